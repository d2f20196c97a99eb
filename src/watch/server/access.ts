import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isSame, newSecret } from '../../common/platform/local-access.ts';

const COOKIE = 'poolwright-watch';

/**
 * Grants access to browsers that have exchanged a one-time token for the cookie. A cookie does not depend on the port,
 * so a browser would send it to other servers of this machine, too; hence its random path.
 */
export class Access {
  /** The path of everything that needs the cookie. Not a secret: addresses get into histories. */
  readonly base = `/${randomBytes(16).toString('hex')}/`;
  readonly #secret = newSecret();
  /** Unused tokens, by where their address was given: terminal, browser, JSON. */
  readonly #tokens = new Map<string, string>();

  /** A token, valid once. @param channel where it is given; replaces its earlier token */
  token(channel: string): string {
    const token = newSecret();
    this.#tokens.set(channel, token);
    return token;
  }

  /** The `Set-Cookie` header for a token, which is used up; null if it is invalid. */
  redeem(token: string): string | null {
    for (const [channel, valid] of this.#tokens) {
      if (!isSame(token, valid)) continue;
      this.#tokens.delete(channel);
      return `${COOKIE}=${this.#secret}; Path=${this.base}; HttpOnly; SameSite=Strict`;
    }
    return null;
  }

  /** Whether a request has the cookie. */
  isGranted({ headers }: IncomingMessage): boolean {
    return (headers.cookie ?? '').split(';').some((pair) => {
      const [name, value] = pair.trim().split('=');
      return name === COOKIE && value !== undefined && isSame(value, this.#secret);
    });
  }
}

/** Whether a request comes from a page of this server. Browsers send `Origin` with each WebSocket. */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  return headers.origin === `http://${headers.host}`;
}
