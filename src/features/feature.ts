import type { BrokerConnection } from '../broker/rpc/client.ts';
import type { LeasedBrowser } from '../broker/rpc/messages/protocol.ts';
import type { Screencast } from '../cdp/screencast/screencast.ts';
import type { Environment } from '../options/environment.ts';
import type { MergedOptions } from '../options/lease-plan.ts';
import type { RecordedByFeatures, TestFacts } from '../record/test-record.ts';

/**
 * A feature is something that a run can do without: a directory, and one line in the list. Without both, everything
 * else compiles and passes (`node scripts/without.mjs`). Workers call it at five moments, and know none by name.
 */
export interface WorkerFeature {
  /** A client is connected to a browser. */
  opened?(connection: FeatureConnection): void;
  /** A test begins. Only of runners that do not report their tests themselves. */
  testBegan?(test: FeatureTest): void;
  /** A test has failed. Its pages close when this resolves; called again if it opens pages elsewhere. */
  testFailed?(test: FeatureTest): Promise<void>;
  /** The test is over, its pages are closed, and its record is sent. */
  testEnded?(test: FeatureTest, facts: TestFacts): void | Promise<void>;
  /** A test or a script waits for a person. @param test null: a script or a hook */
  hold?(connection: FeatureConnection, reason: string, test: FeatureTest | null): Promise<void>;
}

/** How a feature is listed. */
export interface Feature {
  /** Its setting in the workers of a run, which is public; `undefined`, `false` and `off`: nothing of it is loaded. */
  setting(options: MergedOptions, environment: Environment): FeatureSetting | undefined;
  load(): Promise<{ start(worker: FeatureWorker, setting: FeatureSetting): WorkerFeature }>;
}

export type FeatureSetting = string | boolean;

/** The settings of the features that are on, by name. */
export type FeatureSettings = Readonly<Record<string, FeatureSetting>>;

export interface FeatureWorker {
  readonly broker: Pick<BrokerConnection, 'ask' | 'redact' | 'say'>;
  /** Its `parallelIndex`. */
  readonly slot: number;
  readonly environment: Environment;
}

/** A client's connection to a browser. */
export interface FeatureConnection {
  readonly lease: LeasedBrowser;
  /** The client library's browser object. */
  readonly browser: unknown;
  /** Takes pictures of its pages, and lets a person control them. */
  readonly screencast: Screencast;
  /** Resolves when it is closed. Never rejects. */
  readonly closed: Promise<unknown>;
  /** Why it was lost, or null. */
  lost(): unknown;
  /** Notifies the user about this browser. */
  note(text: string): void;
}

/** A test, from its beginning to its end. */
export interface FeatureTest extends Pick<TestFacts, 'file' | 'project' | 'retry' | 'startedAt' | 'titles'> {
  /** Different for each try. */
  readonly key: string;
  /** The browsers that it has used so far, newest last. */
  connections(): readonly FeatureConnection[];
  /** The client's context of the test, if one is open and the runner knows it. */
  context(): object | null;
  /** Those of tests that run at the same time. */
  others(): readonly object[];
  /** When the previous test in the same pages ended, in ms since the epoch; 0: there was none. */
  readonly since: number;
  /** What features add to its record. */
  readonly fields: RecordedByFeatures;
  /** Where to find what is kept of it, one line each: for its error, where its runner shows no files. */
  readonly notes: string[];
  /** The runner's root directory. */
  readonly root: string;
  /** Where features keep files, each in a directory of its name. It is empty when the run begins. */
  readonly directory: string;
  /** Gives it this much more time, if its runner can. Call the returned function when it was enough. */
  allow(ms: number): () => void;
  /** Keeps a page about it with its results. */
  keep(name: string, html: string): Promise<void>;
}
