import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { RELAY_SECRET } from '../../src/relay/relay-token.ts';
import type { ServiceClient } from '../../src/service/client.ts';
import type { EmulatorProcess } from '../surroundings/emulator.ts';
import { startOwnChromiums } from '../surroundings/own-chromium.ts';
import { attachedBrowser } from './report.ts';
import { nothing, type Side } from './side.ts';

/** The sides with poolwright: its config wrapper around the same suite, everything else as it is by default. */

const POOL = 'bench';
const WARM_TIMEOUT_MS = 120_000;
const LOOK_AGAIN_MS = 50;

const serviceOf = ({ baseURL, apiKey }: EmulatorProcess) => ({
  POOLWRIGHT_BASE_URL: baseURL,
  POOLWRIGHT_API_KEY: apiKey,
});

/** A session that the run creates for each worker. */
export const session: Side = {
  name: 'session',
  title: 'poolwright, session',
  fixtures: null,
  config: ({ exposeNetwork }) => wrapped({}, exposeNetwork),
  prepare: async ({ emulator }) => nothing(serviceOf(emulator)),
  wrongBrowser: (test) => {
    const browser = attachedBrowser(test);
    if (!browser) return 'has no hosted browser';
    return browser.poolId === null ? null : 'has a browser of a pool';
  },
};

/** As many workers as Playwright starts on this machine. */
export const halfTheCores: Side = {
  ...session,
  name: 'half-the-cores',
  title: "poolwright, session, Playwright's number of workers",
  config: ({ exposeNetwork }) => wrapped({ workers: Math.max(1, Math.floor(cpus().length / 2)) }, exposeNetwork),
};

/** The same without the bridge: the emulator's browsers reach this machine's loopback by themselves. */
export const unbridged: Side = {
  ...session,
  name: 'unbridged',
  title: 'poolwright, session, no bridge',
  config: () => wrapped({}, ''),
};

/** Browsers that run already, at their own ports: the difference from `session` is the emulator's. */
export const own: Side = {
  ...session,
  name: 'own',
  title: 'poolwright, own ports',
  prepare: async ({ chromium, workers }) => {
    const { addresses, remove } = await startOwnChromiums(chromium, workers);
    return { env: { POOLWRIGHT_CDP_URL: addresses.join(',') }, remove };
  },
};

/** A session to which every round trip is paid for. */
export const unhidden: Side = {
  ...session,
  name: 'unhidden',
  title: 'poolwright, session, ahead: false',
  config: ({ exposeNetwork }) => wrapped({ ahead: false }, exposeNetwork),
};

/** A session through a relay near its browser: the distance is between the tests and the relay. */
export const relay: Side = {
  ...session,
  name: 'relay',
  title: 'poolwright, session, relay',
  prepare: async ({ near }) => {
    if (!near) throw new Error('Only suites with a distance have a relay.');
    return nothing({
      ...serviceOf(near.emulator),
      POOLWRIGHT_RELAY: near.relay.address,
      [RELAY_SECRET]: near.relay.secret,
    });
  },
};

/** A pool that is warm when the run starts, with as many browsers as the run has workers. */
export const pool: Side = {
  name: 'pool',
  title: 'poolwright, pool',
  fixtures: null,
  config: ({ exposeNetwork }) => wrapped({ pool: POOL, fallback: 'fail' }, exposeNetwork),
  prepare: async ({ emulator, workers }) => {
    const { client } = emulator;
    const { id } = await client.createPool({ name: POOL, size: workers });
    await warm(client, id, workers);
    return { env: serviceOf(emulator), remove: async () => void (await client.deletePool(id)) };
  },
  wrongBrowser: (test) => {
    const browser = attachedBrowser(test);
    if (!browser) return 'has no hosted browser';
    return browser.poolId === null ? 'has no browser of the pool' : null;
  },
};

/** A config with poolwright's options. */
export function wrapped(options: object, exposeNetwork: string | null): string {
  const all = exposeNetwork === null ? options : { ...options, exposeNetwork };
  return `import { withHostedBrowsers } from 'poolwright';
export default defineConfig(withHostedBrowsers(config, ${JSON.stringify(all)}));`;
}

async function warm(client: ServiceClient, id: string, size: number): Promise<void> {
  const until = Date.now() + WARM_TIMEOUT_MS;
  while (((await client.getPool(id)).ready ?? 0) < size) {
    if (Date.now() > until) throw new Error(`The pool was not warm within ${WARM_TIMEOUT_MS / 1000} s`);
    await delay(LOOK_AGAIN_MS);
  }
}
