import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { startRelay } from '../../src/relay/server.ts';
import { openDistantPort } from './distant-port.ts';

const SECRET = 'the secret of a benchmark, long enough';

/** A relay near the browsers, and far from here. */
export interface DistantRelay {
  address: string;
  secret: string;
  stop(): Promise<void>;
}

/** Major and minor version of the `playwright-core` that a directory uses, and its own directory. */
export function installedPlaywright(directory: string): [version: string, path: string] {
  const file = createRequire(resolve(directory, 'package.json')).resolve('playwright-core/package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return [/^\d+\.\d+/.exec(version)?.[0] ?? '', dirname(file)];
}

/** @param playwrights directories of `playwright-core`, by version @param rtt to the relay and back, in ms */
export async function startDistantRelay(playwrights: Map<string, string>, rtt: number): Promise<DistantRelay> {
  const relay = await startRelay({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    secret: SECRET,
    allowed: { hosts: ['127.0.0.1'], allowPrivate: true },
    playwrights,
    limits: { leases: 10, memoryMB: 1_000, minutes: 60 },
    user: undefined,
    onLog: (line) => console.error(line),
  });
  const distant = await openDistantPort(relay.port, rtt);
  return {
    address: `ws://127.0.0.1:${distant.port}`,
    secret: SECRET,
    stop: async () => {
      distant.close();
      await relay.stop();
    },
  };
}
