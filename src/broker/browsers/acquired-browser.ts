import type { BrowserIdentity } from '../../common/browser-identity.ts';
import type { SessionType } from '../../service/schemas/index.ts';

/** One browser that this run holds, leased from a pool or created as a session. */
export interface AcquiredBrowser extends BrowserIdentity {
  readonly source: 'pool' | 'session';
  /** Kind of browser. A pool's template does not name one: `hosted`. Null: the user's own. */
  readonly type: SessionType | null;
  /** Whether it has a profile or extensions, which are visible only in its default context. */
  readonly hasOwnState: boolean;
  /** Whether others may use it at the same time, because it runs already. Default: no. */
  readonly runsAlready?: boolean | undefined;
  /** A secret: it gives full control over the browser. */
  readonly cdpUrl: string;
  /** Sent with each connection to `cdpUrl`. Secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly startedAt: Date;
  /** Maximum lifetime at the service, in seconds: `duration` of a session, `leaseTimeoutSeconds` of a pool. */
  readonly lifetimeSeconds: number;
  /** When the lifetime ends, counted from the request, so rather too early than too late. */
  readonly expiresAt: Date;
}
