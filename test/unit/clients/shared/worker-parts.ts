import type { BrokerClient } from '../../../../src/broker/rpc/client.ts';
import type { LeasedBrowser } from '../../../../src/broker/rpc/messages/protocol.ts';
import type { LeasedConnection } from '../../../../src/clients/shared/connection/leased-connection.ts';
import type { Loss } from '../../../../src/clients/shared/connection/loss.ts';
import type { WorkerBrowserOptions } from '../../../../src/clients/shared/worker-browser.ts';
import { LeaseError } from '../../../../src/errors.ts';
import type { LeasePlan } from '../../../../src/options/schema/plan.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';

/** The broker and the connections of one worker, which act only when the test tells them to. */

/** The state of one browser. */
export interface Session {
  lease: LeasedBrowser;
  prefetch: boolean;
  /** In which epoch (see {@link ScriptedParts.epoch}) it was lost, and began to be about to end. */
  lostIn: number | null;
  shortSince: number | null;
  /** Stopped: it does not respond, and nobody has noticed yet. */
  hung: boolean;
  /** Its responses to liveness checks. */
  answered: boolean;
  connection: ScriptedLink | null;
  returned: string[];
  /** Tests that opened a context on it, and the number of open contexts. */
  users: Set<number>;
  open: number;
}

interface LeaseRequest {
  prefetch: boolean;
  resolve(lease: LeasedBrowser): void;
  reject(error: Error): void;
}

interface Opening {
  session: Session;
  onSilent(): void;
  resolve(connection: LeasedConnection): void;
  reject(error: Error): void;
}

type ScriptedLink = LeasedConnection & { lose(silent: boolean): void };

const HOUR_MS = 3_600_000;

export class ScriptedParts {
  /** Counts how often everything pending was allowed to happen. */
  epoch = 0;
  readonly sessions: Session[] = [];
  readonly requests: LeaseRequest[] = [];
  readonly openings: Opening[] = [];
  /** Pending responses of broker and browser. */
  readonly late: (() => void)[] = [];
  readonly faults: string[] = [];
  readonly clock = new FakeClock();
  closing = false;
  /** Whether other workers wait for a browser. */
  wanted = false;
  /** Whether the worker knows. Then it may give back a browser that no test has used. */
  toldWanted = false;
  isConnectionClosed = false;

  /** @param slow responses arrive when the test tells them to, not at once */
  constructor(
    private readonly reuse: LeasePlan['reuse'],
    private readonly slow: boolean,
  ) {}

  readonly broker: BrokerClient = {
    ask: async () => undefined,
    allowSilence: () => undefined,
    lease: ({ prefetch = false }) =>
      new Promise((resolve, reject) => {
        this.expect(!this.closing, 'a browser is asked for after close()');
        this.requests.push({ prefetch, resolve, reject });
      }),
    cancelPrefetch: () => {
      this.expect(
        this.closing || this.toldWanted || this.requests.some(({ prefetch }) => !prefetch),
        'a prefetch is taken back before the one in its place is made',
      );
      const cancelled = this.take(this.requests, ({ prefetch }) => prefetch);
      return this.answer(() => {
        for (const ask of cancelled) ask.reject(new LeaseError('ABORTED', 'taken back'));
      });
    },
    giveBack: ({ sessionId, condition, unused }) => {
      const session = this.sessions.find(({ lease }) => lease.sessionId === sessionId);
      if (!session) throw new Error(`no session ${sessionId}`);
      this.expect(!this.isConnectionClosed, 'a browser is given back over a closed connection');
      this.expect(!unused || session.users.size === 0, `${sessionId} is given back unused, and was used`);
      this.expect(
        session.open === 0 || session.lostIn !== null || session.hung || this.closing,
        `${sessionId} is given back (${condition}) in use`,
      );
      // When responses are slow, it may be lost while disconnecting.
      const isLost = session.lostIn !== null && !this.slow;
      this.expect(condition !== 'healthy' || !isLost, `${sessionId} is given back healthy, and was lost`);
      const isWasted = session.users.size === 0 && session.connection && session.shortSince === null && !session.hung;
      const isGivenUp = condition === 'lost' || this.closing || this.toldWanted;
      this.expect(isGivenUp || !isWasted, `${sessionId} is given back, and no test has used it`);
      const goesOn = condition === 'healthy' && (this.reuse === 'run' || unused === true);
      this.expect(
        !goesOn || !session.connection || session.answered,
        `${sessionId} goes on to others without a sign of life`,
      );
      const isShort = unused && !this.slow && before(session.shortSince, this.epoch);
      this.expect(!goesOn || !session.connection || !isShort, `${sessionId} goes on to others and is about to end`);
      session.returned.push(condition);
      session.connection?.lose(false);
      return this.answer(() => undefined);
    },
    isWanted: () => {
      const { wanted } = this;
      return this.answer(() => {
        this.toldWanted ||= wanted;
        return wanted;
      });
    },
    testUsage: async () => undefined,
    sessionReport: async () => ({ status: null, stoppedAt: null, bandwidthBytes: null }),
    redact: async ({ texts }) => texts,
    say: async () => undefined,
    close: () => {
      this.expect(!this.requests.some(({ prefetch }) => prefetch), 'close() leaves a prefetch');
      this.isConnectionClosed = true;
      for (const ask of this.requests.splice(0)) ask.reject(new LeaseError('BROKER_LOST', 'closed'));
    },
  };

  readonly connect: WorkerBrowserOptions<LeasedConnection>['connect'] = (lease, { onSilent }) =>
    new Promise((resolve, reject) => {
      const session = this.sessions.find((each) => each.lease === lease);
      if (session) this.openings.push({ session, onSilent, resolve, reject });
    });

  /** The broker grants the oldest or newest request. */
  grant(newest: boolean, short: boolean): void {
    const ask = this.requests.at(newest ? -1 : 0);
    if (ask) this.grantTo(ask, short);
  }

  private grantTo(ask: LeaseRequest, short: boolean): void {
    this.take(this.requests, (each) => each === ask);
    const n = this.sessions.length + 1;
    const session: Session = {
      lease: { sessionId: `ses_${n}`, leaseId: null, lifetimeMs: HOUR_MS, expiresAt: inMs(HOUR_MS) } as LeasedBrowser,
      prefetch: ask.prefetch,
      lostIn: null,
      shortSince: null,
      hung: false,
      answered: false,
      connection: null,
      returned: [],
      users: new Set(),
      open: 0,
    };
    if (short) this.age(session);
    this.sessions.push(session);
    ask.resolve(session.lease);
  }

  /** Grants the pending request and opens its connection; with `prefetch`, also the prefetch. */
  async serve(prefetch: boolean): Promise<void> {
    const due = (what: { prefetch: boolean }) => prefetch || !what.prefetch;
    for (const ask of this.requests.filter(due)) this.grantTo(ask, false);
    await this.settle();
    for (const opening of this.openings.filter(({ session }) => due(session))) this.finish(opening, 'up');
    await this.settle();
  }

  /** The broker rejects a request. */
  refuse(newest: boolean): void {
    (newest ? this.requests.pop() : this.requests.shift())?.reject(new LeaseError('ACQUIRE_TIMEOUT', 'no browser'));
  }

  /** An opening connection succeeds or fails. */
  open(newest: boolean, outcome: 'up' | 'unreachable' | 'broken'): void {
    const opening = this.openings.at(newest ? -1 : 0);
    if (opening) this.finish(opening, outcome);
  }

  private finish(opening: Opening, outcome: 'up' | 'unreachable' | 'broken'): void {
    this.take(this.openings, (each) => each === opening);
    const { session, resolve, reject, onSilent } = opening;
    if (outcome === 'unreachable') reject(new LeaseError('CONNECT_FAILED', 'refused'));
    else if (outcome === 'broken') reject(new Error('broken'));
    else resolve(this.link(session, onSilent));
  }

  /** Something happens to the worker's newest browser, or to the one before. */
  disturb(newest: boolean, what: 'lose' | 'silence' | 'hang' | 'age'): void {
    const session = this.sessions.filter(({ returned }) => returned.length === 0).at(newest ? -1 : -2);
    if (!session) return;
    if (what === 'age') this.age(session);
    else if (what === 'hang') session.hung = true;
    else session.connection?.lose(what === 'silence');
  }

  private age(session: Session): void {
    session.lease.expiresAt = inMs(1_000);
    session.shortSince ??= this.epoch;
  }

  /** Whether contexts are open in a browser. */
  readonly isInUse = ({ lease }: LeasedConnection): boolean =>
    this.sessions.some((session) => session.lease === lease && session.open > 0);

  /** Lets everything possible happen without further steps. */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.epoch += 1;
  }

  expect(holds: boolean, fault: string): void {
    if (!holds) this.faults.push(fault);
  }

  private link(session: Session, onSilent: () => void): LeasedConnection {
    let loss: Loss | null = null;
    const connection = {
      lease: session.lease,
      lost: () => loss,
      settle: () =>
        this.answer(() => {
          session.answered = !session.hung && loss === null;
          return session.answered ? null : 'it does not respond';
        }),
      close: () => this.answer(() => undefined),
      lose: (silent: boolean) => {
        if (loss) return;
        loss = { at: 0, seen: '', how: silent ? 'silent' : 'closed' };
        session.open = 0;
        // Only the browser's own end is a loss. A browser that was given back is closed by the worker.
        if (session.returned.length > 0) return;
        session.lostIn = this.epoch;
        if (silent) onSilent();
      },
    } as unknown as ScriptedLink;
    session.connection = connection;
    return connection;
  }

  private answer<T>(value: () => T): Promise<T> {
    if (!this.slow) return Promise.resolve().then(value);
    return new Promise((resolve) => this.late.push(() => resolve(value())));
  }

  private take<T>(from: T[], which: (each: T) => boolean): T[] {
    const taken = from.filter(which);
    for (const each of taken) from.splice(from.indexOf(each), 1);
    return taken;
  }
}

/** Whether it was so in an earlier epoch. */
export function before(since: number | null, epoch: number): boolean {
  return since !== null && since < epoch;
}

function inMs(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}
