import type { RelayClaims } from './relay-token.ts';

/** The tokens that were used and are still valid: each is accepted once. */
export class UsedTokens {
  readonly #expiries = new Map<string, number>();

  /** Returns whether the token is used for the first time. */
  add({ id, expiresAt }: RelayClaims, now = Date.now()): boolean {
    for (const [each, expiry] of this.#expiries) if (expiry <= now) this.#expiries.delete(each);
    if (this.#expiries.has(id)) return false;
    this.#expiries.set(id, expiresAt);
    return true;
  }
}
