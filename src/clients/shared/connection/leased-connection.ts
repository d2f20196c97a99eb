import type { Traffic } from '../../../cdp/network/send/proxied-traffic.ts';
import type { TransportFigures } from '../../../cdp/pipeline.ts';
import type { FeatureConnection } from '../../../features/feature.ts';
import type { Loss } from './loss.ts';

/** The measurements of a connection since it opened. They grow. */
export interface ConnectionFigures extends TransportFigures {
  /** Bytes that pages sent and received through this machine. */
  proxied: Traffic;
  /** Origins on this machine that tests navigated to and that were proxied for them. */
  carriedOrigins: readonly string[];
  /** Bytes of pictures of its pages. */
  pictureBytes: number;
}

/** The data of a connected browser that goes into the run record. */
export interface RecordedConnection extends FeatureConnection {
  figures(): ConnectionFigures;
  /** Null while the connection is open and the browser works, and after a release. */
  lost(): Loss | null;
  /** The client has failed on this browser: it counts as lost. @param seen in what way, as part of a sentence */
  markBroken(seen: string): void;
}

/** A client's connection to one leased browser, as far as workers need it. Implemented for Playwright and Puppeteer. */
export interface LeasedConnection extends RecordedConnection {
  /**
   * Makes the browser ready for the next test: closes what tests have left in it. Returns why no other test may use it;
   * null if it is as good as before. It may be silent for `ms`, plus the time that pending data takes to send.
   */
  settle(ms: number): Promise<string | null>;
  /** Disconnects without ending the browser. */
  close(): Promise<void>;
}

/** Callbacks of a connection. */
export interface ConnectionEvents {
  /** Called with a message for the user about this browser. */
  onNote(text: string): void;
  /** Called with what a page did not reach and which option allows it, or which part of an upload was lost. */
  onUnreachable(text: string): void;
  /** Called once when the browser stops responding. */
  onSilent(): void;
}
