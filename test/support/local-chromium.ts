import { chooseChromium } from '../../src/emulator/chromium/choose-chromium.ts';
import { findChromiums } from '../../src/emulator/chromium/find-chromium.ts';

/**
 * Returns the path of the Chromium that the emulator uses for plain sessions: the headless shell, if it is installed.
 */
export async function localChromium(): Promise<string> {
  return chooseChromium(await findChromiums(), null).path;
}

/** Returns options that make an emulator use full Chromium for all sessions; empty if only the shell is installed. */
export async function allOnFullChromium(): Promise<{ chromium?: string }> {
  const { full } = await findChromiums();
  return full ? { chromium: full.path } : {};
}
