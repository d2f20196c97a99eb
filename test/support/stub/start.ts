import { type Clock, systemClock } from '../../../src/common/clock.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { type Emulator, startWith } from '../../../src/emulator/start.ts';
import { StubLauncher } from './stub-launcher.ts';

/** The emulator's options, and a test's own: `stub` for in-memory fake browsers instead of Chromium. */
export type TestOptions = EmulatorOptions & { browser?: 'stub' };

/**
 * Starts an emulator for tests that need hundreds of sessions and hardly a page: a session's browser is an object in
 * this process that speaks as much CDP as Playwright needs for a page with a title and script, without DOM, network and
 * pictures.
 */
export function startStubEmulator(
  { browser: _stub, ...options }: TestOptions = {},
  clock: Clock = systemClock,
): Promise<Emulator> {
  return startWith(options, { clock, launcher: new StubLauncher() });
}
