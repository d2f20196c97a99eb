import type { BrowserContextOptions } from '@playwright/test';
import { OptionsError } from '../../errors.ts';

/** Adapts the options of `newContext` to a hosted browser. */

/** Emulation that would contradict a browser's own identity, each with the value that turns it off. */
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

/** Values that Playwright Test passes by default. Dropping them needs no warning. */
const DEFAULTS: BrowserContextOptions = {
  viewport: { width: 1280, height: 720 },
  deviceScaleFactor: 1,
  isMobile: false,
  hasTouch: false,
  locale: 'en-US',
  colorScheme: 'light',
};

/** Options from `use`, which Playwright adds to those of `newContext`. */
type Used = Readonly<Record<string, unknown>>;

interface Kept {
  kept: BrowserContextOptions;
  dropped: string[];
}

/** Returns the options without emulation, and the names of the dropped ones that the user set. */
export function withoutEmulation(options: BrowserContextOptions, use: Used): Kept {
  const names = Object.keys(IDENTITY) as (keyof typeof IDENTITY)[];
  const dropped = names.filter((name) => {
    const given = options[name] ?? use[name];
    return given != null && JSON.stringify(given) !== JSON.stringify(DEFAULTS[name]);
  });
  return { kept: { ...options, ...IDENTITY }, dropped };
}

/** Options that only a new context can have. Playwright implements both with a proxy. */
const ONLY_NEW = ['proxy', 'clientCertificates'] as const;

/**
 * Rejects options that the browser's default context cannot have.
 * @param where where the options are set, for the error
 * @throws OptionsError
 */
export function assertPersistent(options: BrowserContextOptions, where: string): void {
  const name = ONLY_NEW.find((each) => options[each] !== undefined);
  if (!name) return;
  const instead = name === 'proxy' ? 'Set `session.proxyUrl` for the whole browser, or' : 'Set';
  throw new OptionsError(
    `${where}.${name}`,
    `\`${where}.${name}\` is not supported in a persistent context, which is the browser's own. ${instead} \`hosted: { context: 'isolated' }\`.`,
  );
}
