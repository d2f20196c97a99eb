import type { BrowserContextOptions } from '@playwright/test';
import { OptionsError } from '../../errors.ts';

/** What newContext's options become on a hosted browser. */

/** Emulation that would contradict a browser with an identity of its own: the value that means none. */
const IDENTITY = {
  userAgent: undefined,
  viewport: null,
  screen: undefined,
  deviceScaleFactor: undefined,
  isMobile: undefined,
  hasTouch: undefined,
  locale: undefined,
  timezoneId: undefined,
  colorScheme: null,
  reducedMotion: null,
  forcedColors: null,
  contrast: null,
} as const satisfies BrowserContextOptions;

/** What Playwright Test passes on without being asked to: not worth a word when it is dropped. */
const DEFAULTS: BrowserContextOptions = {
  viewport: { width: 1280, height: 720 },
  deviceScaleFactor: 1,
  isMobile: false,
  hasTouch: false,
  locale: 'en-US',
  colorScheme: 'light',
};

/** What `use` sets, which Playwright adds to the options that it is given. */
type Used = Readonly<Record<string, unknown>>;

interface Kept {
  kept: BrowserContextOptions;
  dropped: string[];
}

/** Options without emulation, and the names of those that somebody had set. */
export function withoutEmulation(options: BrowserContextOptions, use: Used): Kept {
  const names = Object.keys(IDENTITY) as (keyof typeof IDENTITY)[];
  const dropped = names.filter((name) => {
    const given = options[name] ?? use[name];
    return given != null && JSON.stringify(given) !== JSON.stringify(DEFAULTS[name]);
  });
  return { kept: { ...options, ...IDENTITY }, dropped };
}

/** Options that belong to a browser context when it is made. Both are proxies to Playwright. */
const ONLY_NEW = ['proxy', 'clientCertificates'] as const;

/**
 * Refuses what a browser's own context cannot have.
 * @param where the options stand, for the error
 * @throws OptionsError
 */
export function assertPersistent(options: BrowserContextOptions, where: string): void {
  const name = ONLY_NEW.find((each) => options[each] !== undefined);
  if (!name) return;
  const instead = name === 'proxy' ? 'Set `session.proxyUrl` for the whole browser, or' : 'Set';
  throw new OptionsError(
    `${where}.${name}`,
    `\`${where}.${name}\`: a persistent context is the browser's own and cannot have it. ${instead} \`hosted: { context: 'isolated' }\`.`,
  );
}
