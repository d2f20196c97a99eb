import type { BrowserIdentity } from '../common/browser-identity.ts';
import type { SessionType } from '../service/schemas/index.ts';

/** One browser that this run holds, however it was got. */
export interface AcquiredBrowser extends BrowserIdentity {
  readonly source: 'pool' | 'session';
  /** Kind of browser. A pool's template names none: `hosted`. */
  readonly type: SessionType;
  /** Whether it has a profile or extensions, which only its own context shows. */
  readonly hasOwnState: boolean;
  /** A secret: who has it has the browser. */
  readonly cdpUrl: string;
  readonly startedAt: Date;
  /** How long the service lets it live, in seconds: `duration` of a session, `leaseTimeoutSeconds` of a pool. */
  readonly lifetimeSeconds: number;
  /** When that is over, counted from the asking: a little early is right for a bound. */
  readonly expiresAt: Date;
}
