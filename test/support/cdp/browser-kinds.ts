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

/**
 * The kinds that clients are compared on, with and without `ahead`. `npm test` has the headless shell, which takes a
 * fourth of full Chromium's processor time, while pictures are taken: these add sessions and commands, and change none.
 */
export const BROWSER_KINDS = fullLength(ALL, [kind(false, true)]);
