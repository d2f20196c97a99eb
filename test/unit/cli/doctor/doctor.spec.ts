import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limitsFile, readLimits } from '../../../../src/broker/ledger/known-limits.ts';
import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

test('doctor › names each problem with its solution, and exits 1 when a run would fail', async ({ service }) => {
  const many = await poolwright(['doctor', '--workers=6', '--shards=2', '--no-session', '--json'], service.env);
  expect(many.code).toBe(0);
  const findings: { check: string; result: string; says: string; versions?: object }[] = JSON.parse(many.stdout);
  expect(findings.find(({ check }) => check === 'versions')?.versions).toMatchObject({
    poolwright: expect.stringMatching(/^\d/),
    Node: process.versions.node,
    Playwright: expect.stringMatching(/^1\./),
    Puppeteer: expect.stringMatching(/^\d/),
    platform: expect.stringContaining(process.platform),
  });
  expect(findings.find(({ check }) => check === 'plan limit')).toEqual({
    check: 'plan limit',
    result: 'warning',
    says: '10 browsers at once, 12 wanted (--workers × --shards): some workers will wait for others to finish',
  });
  expect(findings.find(({ check }) => check === 'session')?.result).toBe('skipped');
  expect(await service.client.listSessions()).toMatchObject({ sessions: [] });

  const wrongKey = await poolwright(['doctor'], { ...service.env, POOLWRIGHT_API_KEY: 'wrong-key' });
  expect(wrongKey.code).toBe(1);
  expect(wrongKey.stdout).toMatch(/^FAILED +service and key: .*401.*POOLWRIGHT_API_KEY/m);
  expect(wrongKey.stdout).not.toContain('wrong-key');
  const noPool = await poolwright(['doctor', '--no-session'], { ...service.env, POOLWRIGHT_POOL: 'nowhere' });
  expect(noPool.code).toBe(1);
  expect(noPool.stdout).toMatch(/^FAILED +pool: .*there is no pool "nowhere"/m);
  const none = { POOLWRIGHT_BASE_URL: '', POOLWRIGHT_API_KEY: '' };
  const inCI = await poolwright(['doctor'], { ...none, CI: '1' });
  expect(inCI.code).toBe(1);
  expect(inCI.stdout).toMatch(/^FAILED +variables: POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY are not set/m);
  expect(inCI.stdout).not.toMatch(/^\w+ +emulator:/m);
});

test('doctor › remembers how many browsers the plan and the pool have, for the next run of this project', async ({
  service,
  directory,
}) => {
  mkdirSync(join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), '{}');
  await service.client.createPool({ name: 'remembered', size: 3 });
  const env = { ...service.env, POOLWRIGHT_POOL: 'remembered' };
  expect(await poolwright(['doctor', '--no-session'], env, directory)).toMatchObject({ code: 0 });
  const { baseURL, apiKey } = service.emulator;
  expect(readLimits(limitsFile(directory, { kind: 'hosted', baseURL, apiKey }))).toEqual({
    concurrentBrowsers: 10,
    pools: new Map([['remembered', 3]]),
  });
});
