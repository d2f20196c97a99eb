import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { type LeaseLimits, LeaseProcesses } from '../../../src/relay/lease-processes.ts';

/** Limits on the processes of leases, of the built package. */

const CONFIG = {
  playwright: resolve(import.meta.dirname, '../../../node_modules/playwright-core'),
  browser: 'none',
  allowed: { hosts: ['127.0.0.1'], allowPrivate: true },
};
const ENOUGH: LeaseLimits = { leases: 1, memoryMB: 1_000, minutes: 60 };

function processes(limits: Partial<LeaseLimits>, lines: string[] = []): LeaseProcesses {
  return new LeaseProcesses({
    limits: { ...ENOUGH, ...limits },
    user: undefined,
    onLog: (line) => void lines.push(line),
  });
}

test('ends a lease that uses too much memory', async () => {
  const lines: string[] = [];
  const lease = await processes({ memoryMB: 60 }, lines).start(CONFIG);
  await lease.ended;
  expect(lines).toEqual([expect.stringMatching(/^a lease was ended at \d+ MB of memory$/)]);
});

test('ends a lease that takes too long', async () => {
  const lines: string[] = [];
  const lease = await processes({ minutes: 0 }, lines).start(CONFIG);
  await lease.ended;
  expect(lines).toContain('a lease was ended after 0 min');
});

test('removes what a lease has written, and counts it until then', async () => {
  const all = processes({});
  const lease = await all.start(CONFIG);
  expect(all.isFull).toBe(true);
  expect(existsSync(dirname(lease.socket))).toBe(true);
  lease.end();
  await lease.ended;
  expect(existsSync(dirname(lease.socket))).toBe(false);
  expect(all.isFull).toBe(false);
});
