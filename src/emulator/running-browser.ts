import type { BrowserSpec } from './browser-spec.ts';
import type { CdpSeat } from './cdp/cdp-clients.ts';
import type { BrowserExit } from './chromium/browser-process.ts';

/** A browser that clients can connect to, with its meter. */
export interface RunningBrowser {
  /**
   * Resolves when it can accept one more client, which it cannot while it is frozen. Rejects when it has ended.
   */
  reserve(): Promise<CdpSeat>;
  /** Settles when the browser is gone, however that came about. */
  readonly exited: Promise<BrowserExit>;
  /** Disconnects it from the network at once. Returns its final bandwidth in bytes. */
  cut(): number;
  /** Ends it within a time limit, even if it is frozen, and removes its files. */
  stop(): Promise<void>;
  /** A fault: it is killed. */
  crash(): void;
  /** A fault: it freezes, with its connections, until `resume` or its end. */
  stall(): void;
  resume(): void;
}

/** Starts browsers of one kind, and knows every one that is alive. */
export interface Launcher {
  /** How many warm browsers may start at once. */
  readonly warmStarts: number;
  /** How long the replacement of a pool's leased browser may wait, in ms: a start takes its time from those at work. */
  readonly replaceAfterMs: number;
  /** Resolves when the browser is CDP-ready. When it cannot be, or `signal` aborts first, nothing is left running. */
  launch(spec: BrowserSpec, signal: AbortSignal, files?: BrowserFiles): Promise<RunningBrowser>;
  /** Process IDs of the browsers alive now; each is also the ID of its process group. */
  pids(): number[];
  /** Ends all running browsers and starts no more. */
  stop(): Promise<void>;
}

/** What a browser brings along on its disk, and leaves behind there. */
export interface BrowserFiles {
  /**
   * Before its start: fills the new profile directory. Returns the directories of the extensions to load. Rejects once
   * `signal` has aborted.
   */
  prepare(profileDirectory: string, signal: AbortSignal): Promise<string[]>;
  /** Whether its profile is kept when it ends now: it gets the time to write it out. */
  readonly isKept: boolean;
  /** After its end, before the directory is removed. Never rejects. */
  save(profileDirectory: string): Promise<void>;
}
