import { fullLength } from '../property-runs.ts';

/** A kind of browser, and whether pictures are taken of its pages. */
interface BrowserKind {
  name: string;
  onFullChromium: boolean;
  filmed: boolean;
}

const kind = (onFullChromium: boolean, filmed: boolean): BrowserKind => ({
  name: `${onFullChromium ? 'full Chromium' : 'headless shell'}${filmed ? ', with pictures' : ''}`,
  onFullChromium,
  filmed,
});
const ALL = [kind(false, false), kind(true, true), kind(false, true), kind(true, false)];

/** The kinds that Playwright is compared on. `npm test` has each browser, and each way of filming, once. */
export const BROWSER_KINDS = fullLength(ALL, ALL.slice(0, 2));

/**
 * For comparisons that do not depend on the kind of browser: `npm test` has each way of filming once, on the headless
 * shell, which takes a fourth of full Chromium's processor time.
 */
export const KINDS_ON_SHELL = fullLength(
  ALL,
  ALL.filter(({ onFullChromium }) => !onFullChromium),
);

/** For tests that `npm test` runs on the headless shell only, because they do not depend on the kind of browser. */
export const slowOnFull = (onFullChromium: boolean) => ({ tag: onFullChromium ? ['@slow'] : [] });
