import { notify } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import type {
  FeatureConnection,
  FeatureSettings,
  FeatureTest,
  FeatureWorker,
  WorkerFeature,
} from '../../features/feature.ts';
import { FEATURES } from '../../features/list.ts';
import type { TestFacts } from '../../record/test-record.ts';

/** The features of one worker. Nothing of one that is off is loaded. */
export class WorkerFeatures {
  readonly #settings: FeatureSettings;
  readonly #worker: FeatureWorker;
  readonly #started = new Map<string, Promise<WorkerFeature | null>>();
  /** Those that are on, in the order of the list. */
  #on: readonly { name: string; feature: WorkerFeature }[] = [];
  #loading: Promise<void> | undefined;
  readonly #running = new Set<FeatureTest>();

  constructor(settings: FeatureSettings, worker: FeatureWorker) {
    this.#settings = settings;
    this.#worker = worker;
  }

  /** Before the first connection opens. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Whether any of them needs the pages of a failed test, once they are loaded. */
  get needFailures(): boolean {
    return this.#on.some(({ feature }) => feature.testFailed);
  }

  opened(connection: FeatureConnection): void {
    for (const { feature } of this.#on) feature.opened?.(connection);
  }

  testBegan(test: FeatureTest): void {
    this.#running.add(test);
    for (const { feature } of this.#on) feature.testBegan?.(test);
  }

  /** One after the other. Never rejects. */
  async testFailed(test: FeatureTest): Promise<void> {
    for (const { name, feature } of this.#on) await without(name, test, async () => await feature.testFailed?.(test));
  }

  /** Each has begun when this returns. Never rejects. */
  async testEnded(test: FeatureTest, facts: TestFacts): Promise<void> {
    this.#running.delete(test);
    const ends = this.#on.map(({ name, feature }) =>
      without(name, test, async () => await feature.testEnded?.(test, facts)),
    );
    await Promise.all(ends);
  }

  /** See `HostedSession.hold`. */
  async hold(connection: FeatureConnection, reason: string, test: FeatureTest | null): Promise<void> {
    const holding = await this.#start('hold');
    if (!holding?.hold) throw new OptionsError('hostedSession.hold', 'This build of poolwright has no holds.');
    await holding.hold(connection, reason, test);
  }

  async #load(): Promise<void> {
    const names = Object.keys(FEATURES).filter((name) => name in this.#settings);
    const all = await Promise.all(names.map(async (name) => ({ name, feature: await this.#start(name) })));
    this.#on = all.flatMap(({ name, feature }) => (feature ? { name, feature } : []));
    for (const test of this.#running) this.testBegan(test);
  }

  #start(name: string): Promise<WorkerFeature | null> {
    const starting = this.#started.get(name) ?? this.#loaded(name);
    this.#started.set(name, starting);
    return starting;
  }

  async #loaded(name: string): Promise<WorkerFeature | null> {
    const loaded = await FEATURES[name]?.load();
    return loaded?.start(this.#worker, this.#settings[name] ?? true) ?? null;
  }
}

/** Without what a feature adds to it, a test is still a test. */
async function without(name: string, { titles }: FeatureTest, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (reason) {
    notify(`no ${name} of ${titles.join(' › ')}: ${reason}`);
  }
}
