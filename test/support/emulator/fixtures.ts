import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, test as base, chromium, expect } from '@playwright/test';
import { type Clock, systemClock } from '../../../src/common/clock.ts';
import { type Emulator, startWith } from '../../../src/emulator/start.ts';
import { type Artefact, loadBuilt } from '../artefact.ts';
import { allOnFullChromium, localChromium } from '../local-chromium.ts';
import { isRunning } from '../processes.ts';
import { startStubEmulator, type TestOptions } from '../stub/start.ts';
import { Api } from './api.ts';
import { Site } from './site.ts';

export interface TestEmulator extends Emulator {
  api: Api;
}

interface Fixtures {
  /** An option: the artefact from which the emulator, and a transport to its browsers, are loaded. */
  artefact: Artefact;
  /** An option: whether browsers are stubs. Where no browser matters, each Chromium is a waste of half a second. */
  onStubs: boolean;
  /** An option: whether plain sessions also use full Chromium instead of the headless shell. */
  onFullChromium: boolean;
  /** Starts an emulator and stops it after the test; all its Chromiums must be gone then. */
  start: (options?: TestOptions, clock?: Clock) => Promise<TestEmulator>;
  /** Connects like a client. */
  connect: (cdpUrl: string) => Promise<Browser>;
  site: Site;
  /** Returns the path of a fake Chromium that runs this shell script. */
  fakeChromium: (script: string) => Promise<string>;
  /** Path of a Chromium that starts one second later. */
  slowChromium: string;
  /** A new directory, removed after the test. */
  directory: string;
}

export const test = base.extend<Fixtures>({
  artefact: ['sources', { option: true }],

  onStubs: [false, { option: true }],

  onFullChromium: [false, { option: true }],

  // Emulators may write to the directory until they have stopped: it must outlive them.
  start: async ({ directory: _directory, onFullChromium, artefact, onStubs }, use) => {
    const emulators: Emulator[] = [];
    const full = onFullChromium ? await allOnFullChromium() : {};
    await use(async (options = {}, clock = systemClock) => {
      const emulator = await startFrom(
        artefact,
        { ...full, ...(onStubs && { browser: 'stub' as const }), ...options },
        clock,
      );
      emulators.push(emulator);
      return Object.assign(emulator, { api: new Api(emulator.baseURL, emulator.apiKey) });
    });
    for (const emulator of emulators) {
      const pids = emulator.browserPids();
      await emulator.stop();
      expect(pids.filter(isRunning)).toEqual([]);
      expect(emulator.browserPids()).toEqual([]);
    }
  },

  connect: async ({}, use) => {
    const browsers: Browser[] = [];
    await use(async (cdpUrl) => {
      const browser = await chromium.connectOverCDP(cdpUrl);
      browsers.push(browser);
      return browser;
    });
    for (const browser of browsers) await browser.close();
  },

  site: async ({}, use) => {
    const site = await Site.start();
    await use(site);
    await site.close();
  },

  directory: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-test-'));
    await use(directory);
    // A process that a killed emulator was starting may still be writing its last file there.
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  },

  fakeChromium: async ({ directory }, use) => {
    await use(async (script) => {
      const path = join(directory, 'chromium');
      await writeFile(path, `#!/bin/sh\n${script}\n`);
      await chmod(path, 0o755);
      return path;
    });
  },

  slowChromium: async ({ fakeChromium }, use) => {
    await use(await fakeChromium(`sleep 1; exec '${await localChromium()}' "$@"`));
  },
});

async function startFrom(artefact: Artefact, options: TestOptions, clock: Clock): Promise<Emulator> {
  if (options.browser === 'stub') return await startStubEmulator(options, clock);
  if (artefact === 'sources') return await startWith(options, { clock });
  if (clock !== systemClock) throw new Error('What is built takes no clock');
  const { startEmulator } = await loadBuilt<typeof import('../../../src/emulator/index.ts')>('emulator', artefact);
  return await startEmulator(options);
}

export { expect };
