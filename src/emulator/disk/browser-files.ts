/** A browser's profile and extensions: put on its disk before its start, and saved after its end. */
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
