import type { SessionType } from '../service/schemas/session.ts';

/** The settings of one Chromium: a create body or a pool template with all defaults resolved. */
export interface BrowserSpec {
  type: SessionType;
  /** Why only full Chromium will do, in words; null: the headless shell does, too. */
  fullBecause: string | null;
  country: string;
  timezone: string;
  /** BCP-47 tag of the browser's language. */
  language: string;
  /** Value of `Accept-Language`. */
  acceptLanguage: string;
  windowSize: string;
  displaySize: string;
  disableSpeechApi: boolean;
  /** Opened right after launch. */
  url: string | undefined;
  /** Whether creation includes a check that a page runs script. */
  browserCheck: boolean;
  /** Whether it does not reach hosts of advertisements. */
  adblock: boolean;
  /** SOCKS5 or SOCKS5H URL, credentials and all. */
  proxyUrl: string | undefined;
}
