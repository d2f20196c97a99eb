import type { CdpSeat } from '../cdp/cdp-clients.ts';
import type { BrowserExit } from '../chromium/browser-process.ts';
import type { BrowserFiles } from '../disk/browser-files.ts';
import type { BrowserSpec } from './browser-spec.ts';

/** A browser that clients can connect to, with its meter. */
export interface RunningBrowser {
  /** Resolves when it has a place for one more client; while it stands still, it has none. Rejects when it has ended. */
  reserve(): Promise<CdpSeat>;
  /** Settles when the browser is gone, however that came about. */
  readonly exited: Promise<BrowserExit>;
  /** Takes it off the network at once. The answer is what it has moved, in bytes: final. */
  cut(): number;
  /** Ends it in bounded time, a stalled one too, and removes what it kept on disk. */
  stop(): Promise<void>;
  /** A fault: it is killed. */
  crash(): void;
  /** A fault: it stands still, connections and all, until `resume` or its end. */
  stall(): void;
  resume(): void;
}

/** Starts browsers of one kind, and knows every one that is alive. */
export interface Launcher {
  /** Resolves when the browser is CDP-ready. When it cannot be, or `signal` aborts first, nothing is left running. */
  launch(spec: BrowserSpec, signal: AbortSignal, files?: BrowserFiles): Promise<RunningBrowser>;
  /** Process IDs of the browsers alive now; each is also the ID of its process group. */
  pids(): number[];
  /** Ends every browser that is alive, whoever started it, and starts no more. */
  stop(): Promise<void>;
}
