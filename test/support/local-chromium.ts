import { chooseChromium } from '../../src/emulator/choose-chromium.ts';
import { findChromiums } from '../../src/emulator/find-chromium.ts';

/** Path of the Chromium that the emulator runs ordinary sessions on. */
export async function localChromium(): Promise<string> {
  return chooseChromium(await findChromiums(), null).path;
}
