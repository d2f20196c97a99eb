import type { LeasedBrowser } from '../../broker/rpc/protocol.ts';
import type { Loss } from './loss.ts';

/** What a record needs to know of a connected browser. */
export interface RecordedLink {
  readonly lease: LeasedBrowser;
  /** Bytes since the link was opened; null without metering. */
  observedBytes(): number | null;
  /** Bytes that pages moved through this machine since then. */
  bridgedBytes(): number;
  /** Origins of this machine that tests went to themselves since then, and that were carried for them. */
  carriedOrigins(): readonly string[];
  /** How far away the browser is, in ms, and what waiting for round trips was saved since then; null: not known. */
  distance(): { roundTripMs: number | null; savedMs: number };
  /** Commands that the client has sent since then. */
  commands(): number;
  /** Null while the link is up and the browser answers, and after it was let go. */
  lost(): Loss | null;
}

/** A client's connection to one leased browser, as much of it as the worker needs: it may be Playwright's or Puppeteer's. */
export interface LeaseLink extends RecordedLink {
  /** Whether the browser answers; it may be silent for `ms`, longer behind what was just sent. */
  answers(ms: number): Promise<boolean>;
  /** Drops the connection; the browser itself goes on. */
  close(): Promise<void>;
}

/** What a connection tells while it lives. */
export interface LinkEvents {
  /** Called with what the user should know about this browser. */
  onNote(text: string): void;
  /** Called once when the browser does not answer any more. */
  onSilent(): void;
}
