import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

test('pools › creates, shows, changes, flushes and deletes', async ({ service, directory }) => {
  const { client, env } = service;
  const file = join(directory, 'browser.json');
  await writeFile(file, JSON.stringify({ country: 'DE', note: 'from a file' }));
  const settings = ['--size', '1', '--lease-timeout=60', '--max-ready-age=120', '--browser', file];
  const created = await poolwright(['pools', 'create', 'e2e', ...settings, '--wait', '--json'], env);
  expect(created.code, created.stderr).toBe(0);
  const [pool] = JSON.parse(created.stdout);
  expect(pool).toMatchObject({
    name: 'e2e',
    size: 1,
    ready: 1,
    leaseTimeoutSeconds: 60,
    maxReadyAgeSeconds: 120,
    browser: { country: 'DE', timezone: 'Europe/Berlin', note: 'from a file' },
  });

  const listed = await poolwright(['pools', 'list'], env);
  expect(listed.stdout).toContain(pool.id);
  expect(listed.stdout).toMatch(/ready\s+1\s+1\s+0\s+0/);
  const got = await poolwright(['pools', 'get', 'e2e'], env);
  expect(got.stdout).toContain('Europe/Berlin');

  const paused = await poolwright(['pools', 'update', 'e2e', '--pause', '--size=2', '--json'], env);
  expect(JSON.parse(paused.stdout)).toMatchObject([{ id: pool.id, status: 'paused', size: 2 }]);
  const resumed = await poolwright(['pools', 'update', pool.id, '--resume', '--name=other', '--wait', '--json'], env);
  expect(JSON.parse(resumed.stdout)).toMatchObject([{ id: pool.id, name: 'other', status: 'ready', ready: 2 }]);

  expect(await poolwright(['pools', 'flush', 'other'], env)).toEqual({
    code: 0,
    stdout: 'flushed pool other: 2 stopped\n',
    stderr: '',
  });

  await expect.poll(async () => (await client.getPool(pool.id)).ready).toBe(2);
  await client.acquire(pool.id);
  const unasked = await poolwright(['pools', 'delete', 'other'], env);
  expect(unasked).toMatchObject({ code: 2, stdout: '' });
  expect(unasked.stderr).toContain('add --yes');
  const leased = await poolwright(['pools', 'delete', 'other', '--yes'], env);
  expect(leased.code).toBe(1);
  expect(leased.stderr).toContain('active leases');
  const deleted = await poolwright(['pools', 'delete', 'other', '--yes', '--force', '--json'], env);
  expect(JSON.parse(deleted.stdout)).toEqual({ deleted: ['other'] });
  expect(await client.listPools()).toEqual([]);
  expect(await service.running()).toEqual([]);
});

test('pools › reports each mistake, without the contents of a file', async ({ service, directory }) => {
  const { env } = service;
  const file = join(directory, 'browser.json');
  await writeFile(file, '{ "proxyUrl": "socks5://me:hunter2@');
  const run = (...args: string[]) => poolwright(['pools', ...args], env);
  const cases: [args: string[], code: number, says: string][] = [
    [['create', 'a'], 2, '--size'],
    [['create', 'a', '--size=1', '--browser', file], 2, 'is not valid JSON'],
    [['create', 'a', '--size=1', '--browser', join(file, 'no')], 2, 'cannot be read'],
    [['create', 'a', '--size=0'], 2, 'size'],
    [['create', 'a', '--size=1', '--lease-timeout=5'], 2, 'leaseTimeoutSeconds'],
    [['update', 'a'], 2, 'Nothing to change'],
    [['update', 'a', '--pause', '--resume'], 2, 'cannot be used with'],
    [['get', 'nowhere'], 1, 'there is no pool "nowhere" in this workspace (404). It has none.'],
    [['delete', 'nowhere', '--yes'], 1, 'there is no pool "nowhere"'],
    [['flush', 'nowhere'], 1, 'there is no pool "nowhere"'],
  ];
  for (const [args, code, says] of cases) {
    const result = await run(...args);
    expect(result, args.join(' ')).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(says);
    expect(result.stderr).not.toContain('hunter2');
  }
  expect(await service.client.listPools()).toEqual([]);
});
