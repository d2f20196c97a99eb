import type { LeasedBrowser, RunCalls } from '../../broker/rpc/messages/protocol.ts';
import { type WatchedCalls, watchedCallsOver } from '../../broker/watch/calls.ts';
import { type OrderCalls, orderCallsOver } from '../../broker/watch/orders.ts';
import type { Control, Screencast } from '../../cdp/screencast/screencast.ts';
import { type Clock, systemClock } from '../../common/clock.ts';
import { OptionsError } from '../../errors.ts';
import { type Environment, inContinuousIntegration } from '../../options/environment.ts';
import { printable } from '../../printable.ts';
import type { HoldEnd } from '../../record/enums.ts';
import type { OpenHold } from '../../record/test-record.ts';
import { redactText } from '../../redact.ts';
import type { FeatureTest, FeatureWorker, WorkerFeature } from '../feature.ts';

/** How long a hold lasts at most, in ms. */
const HOLD_MS = 600_000;

/** How long before its browser ends a hold is over, in ms: the test needs it for what follows. */
const LEFT_MS = 15_000;

/** When a hold ends by itself, in ms since the epoch, and why. */
interface HoldLimit {
  until: number;
  end: Extract<HoldEnd, 'lease-end' | 'time-limit'>;
}

/** The part of a broker that holds need. */
export type HoldBroker = Pick<RunCalls, 'redact' | 'say'> &
  OrderCalls &
  Pick<WatchedCalls, 'endHold' | 'hold' | 'inputs'>;

/** The connection of a test on hold to its browser. */
export interface HeldConnection {
  readonly lease: Pick<LeasedBrowser, 'cdpUrl' | 'expiresAt' | 'sessionId'>;
  readonly screencast: Pick<Screencast, 'takeOver'>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>;
}

/** A test that can be put on hold. */
export type HeldTest = Pick<FeatureTest, 'allow' | 'fields' | 'titles'>;

/** A failed test and its browsers, newest last. */
export interface FailedTest extends HeldTest {
  connections(): readonly HeldConnection[];
}

/** Where holds are recorded, and what they depend on. */
interface HoldsOptions {
  broker: HoldBroker;
  /** `parallelIndex` of the worker. */
  slot: number;
  environment: Environment;
  /** Default: the system clock. */
  clock?: Clock;
}

/** Maximum length of a reason, in characters: it is shown in one line. */
const MAX_REASON = 300;

export function start({ broker, ...worker }: FeatureWorker): WorkerFeature {
  return new Holds({
    broker: { ...broker, ...orderCallsOver(broker.ask), ...watchedCallsOver(broker.ask) },
    ...worker,
  });
}

/** Puts the tests of one worker on hold, one at a time. */
export class Holds implements WorkerFeature {
  readonly #broker: HoldBroker;
  readonly #slot: number;
  readonly #environment: Environment;
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;
  /** Failed tests that are or were on hold. */
  readonly #failures = new WeakMap<HeldTest, Promise<void>>();

  constructor({ broker, slot, environment, clock = systemClock }: HoldsOptions) {
    this.#broker = broker;
    this.#slot = slot;
    this.#environment = environment;
    this.#clock = clock;
  }

  /**
   * See `HostedSession.hold`. A second hold waits for the first one.
   * @param test null: a script or a hook
   */
  async hold(browser: HeldConnection, reason: string, test: HeldTest | null): Promise<void> {
    const text = typeof reason === 'string' ? printable(reason).trim().slice(0, MAX_REASON) : '';
    if (text === '') {
      throw new OptionsError(
        'hostedSession.hold',
        "`hostedSession.hold(reason)` needs a reason: the person who watches sees it. Example: `await hostedSession.hold('enter the code')`.",
      );
    }
    if (await this.#isUnattended()) {
      throw new OptionsError(
        'hostedSession.hold',
        `\`hostedSession.hold('${redactText(text)}')\` waits for a person, but this is a CI run (\`CI\` is set) and nobody watches it. Log in on your machine and use the saved storage state here (docs/hold.md), or skip the test: \`test.skip(!!process.env.CI, 'needs a person')\`.`,
      );
    }
    await this.#inTurn(browser, text, test);
  }

  /** Keeps the pages of a failed test open until somebody releases it. Does nothing in CI while nobody watches. */
  async testFailed(test: FailedTest): Promise<void> {
    const browser = test.connections().at(-1);
    if (!browser) return;
    const held = this.#failures.get(test) ?? this.#holdFailed(browser, test);
    this.#failures.set(test, held);
    await held;
  }

  async #holdFailed(browser: HeldConnection, test: HeldTest): Promise<void> {
    if (await this.#isUnattended()) {
      this.#say('POOLWRIGHT_HOLD=failure has no effect: this is a CI run (`CI` is set) and nobody watches it');
    } else {
      await this.#inTurn(browser, 'the test failed', test);
    }
  }

  async #inTurn(browser: HeldConnection, reason: string, test: HeldTest | null): Promise<void> {
    this.#count += 1;
    const restoreTimeout = test?.allow(this.#count * HOLD_MS);
    const before = this.#last;
    const over = before.then(() => this.#hold(browser, reason, test));
    this.#last = over;
    try {
      await over;
    } finally {
      this.#count -= 1;
      restoreTimeout?.();
    }
  }

  /** Never rejects. */
  async #hold(browser: HeldConnection, reason: string, test: HeldTest | null): Promise<void> {
    const { lease, screencast } = browser;
    const limit = holdLimit(lease.expiresAt, this.#clock.now());
    const name = test ? `"${test.titles.join(' › ')}"` : `session ${lease.sessionId}`;
    if (limit.until <= this.#clock.now()) {
      this.#say(`${name} is not put on hold: ${endOf(lease)}`);
      return;
    }
    const masked = await this.#masked(reason, lease.cdpUrl);
    const startedAt = new Date(this.#clock.now());
    const record: OpenHold = { reason: masked, startedAt, endedAt: null, end: 'interrupted' };
    test?.fields.holds.push(record);
    const time = new Date(limit.until).toLocaleTimeString('en-GB');
    this.#say(`${name} is on hold until ${time}: ${masked}. See and release it with \`npx poolwright watch\``);
    const control = screencast.takeOver();
    const end = await this.#end(browser, masked, limit, control);
    control.end();
    Object.assign(record, { endedAt: new Date(this.#clock.now()), end });
    if (end === 'time-limit') this.#say(`${name} continues: it was on hold for ${HOLD_MS / 60_000} minutes`);
    if (end === 'lease-end') this.#say(`${name} continues: ${endOf(lease)}`);
  }

  async #end(
    { closed }: HeldConnection,
    reason: string,
    { until, end }: HoldLimit,
    control: Control,
  ): Promise<HoldEnd> {
    const slot = this.#slot;
    const released = this.#broker.hold({ slot, reason, until });
    // After `hold`, so that the broker knows of it.
    void this.#passInputs(control).catch(() => undefined);
    let stop: () => void = () => undefined;
    const limit = new Promise<HoldEnd>((resolve) => {
      const timer = this.#clock.after(until - this.#clock.now(), () => resolve(end));
      stop = () => timer.cancel();
    });
    const how = await Promise.race([
      released.then(
        () => 'released' as const,
        // The broker is gone: nobody can release it anymore.
        () => 'interrupted' as const,
      ),
      closed.then(() => 'interrupted' as const),
      limit,
    ]);
    stop();
    if (how !== 'released') this.#broker.endHold().catch(() => undefined);
    return how;
  }

  /** Until the hold is over. */
  async #passInputs(control: Control): Promise<void> {
    for (;;) {
      const inputs = await this.#broker.inputs({ slot: this.#slot });
      if (inputs === null) return;
      for (const { target, input } of inputs) control.input(target, input);
    }
  }

  /** Whether this is a CI run that nobody watches. */
  async #isUnattended(): Promise<boolean> {
    if (!inContinuousIntegration(this.#environment)) return false;
    return await this.#broker.watchOrders({ slot: this.#slot, after: 0 }).then(
      ({ isWatched }) => !isWatched,
      () => true,
    );
  }

  async #masked(reason: string, cdpUrl: string): Promise<string> {
    const secrets = [cdpUrl];
    const [masked] = await this.#broker.redact({ texts: [reason], secrets }).catch(() => []);
    return masked ?? redactText(reason, secrets);
  }

  #say(text: string): void {
    this.#broker.say({ text }).catch(() => undefined);
  }
}

function endOf({ sessionId, expiresAt }: HeldConnection['lease']): string {
  return `the browser of session ${sessionId} ends at ${new Date(expiresAt).toLocaleTimeString('en-GB')}`;
}

/** @param expiresAt when the browser ends, ISO 8601 */
function holdLimit(expiresAt: string, now: number): HoldLimit {
  const leaseEnd = Date.parse(expiresAt) - LEFT_MS;
  const longest = now + HOLD_MS;
  return leaseEnd < longest ? { until: leaseEnd, end: 'lease-end' } : { until: longest, end: 'time-limit' };
}
