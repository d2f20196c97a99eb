import { ensureBuilt } from './build.mjs';
import { ensureChromium } from './chromium.mjs';

/** Builds the package and gets Chromium where they are missing; at the same time, because each takes a while. */
export async function setUp() {
  await Promise.all([ensureBuilt(), ensureChromium()]);
}
