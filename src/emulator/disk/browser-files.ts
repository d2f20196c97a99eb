/** What a browser brings along on its disk, and leaves behind there. */
export interface BrowserFiles {
  /**
   * Before its start: fills the fresh profile folder. The answer: folders of the extensions to load. Once `signal`
   * has aborted, it ends with what it is about and rejects.
   */
  prepare(profileFolder: string, signal: AbortSignal): Promise<string[]>;
  /** Whether its profile is kept when it ends now: it gets the time to write it out. */
  readonly isKept: boolean;
  /** After its end, before the folder is removed. Never rejects. */
  save(profileFolder: string): Promise<void>;
}
