import { chooseChromium } from '../../src/emulator/chromium/choose-chromium.ts';
import { findChromiums } from '../../src/emulator/chromium/find-chromium.ts';

/** Path of the Chromium that the emulator runs plain sessions on: the headless shell, where this machine has it. */
export async function localChromium(): Promise<string> {
  return chooseChromium(await findChromiums(), null).path;
}

/** Options that make an emulator run all its sessions on full Chromium; none where this machine has only the shell. */
export async function allOnFullChromium(): Promise<{ chromium?: string }> {
  const { full } = await findChromiums();
  return full ? { chromium: full.path } : {};
}
