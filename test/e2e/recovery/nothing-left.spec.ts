import { expect, test } from '../../support/e2e/fixtures.ts';
import { descendants, leftProcesses } from '../../support/e2e/process-tree.ts';
import { hostedAttachments, reportedTests, runPlaywright, startPlaywright } from '../../support/e2e/run-playwright.ts';
import { STAYS, suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { isRunning } from '../../support/processes.ts';

/** However a run ends, every browser is given back exactly once, and none of our processes is left. */

test.use({ browsers: 'stub' });

test("gives the browser back when a user's fixture or global teardown throws", async ({ newConsumer, service }) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig('{}', `globalSetup: './setup.ts', globalTeardown: './teardown.ts',`),
    'setup.ts': `export default () => { console.log('USER SETUP'); return () => { console.log('USER SETUP TEARDOWN'); }; };`,
    'teardown.ts': `export default () => { throw new Error('user teardown'); };`,
    'tests/a.spec.ts': `
      import { test as base, expect } from '@playwright/test';
      const test = base.extend({ broken: async ({ page }, use) => { await page.goto('about:blank'); throw new Error('user fixture'); } });
      test('never starts', async ({ broken }) => {});`,
  });
  const run = await runPlaywright(consumer, [], service.env);
  expect(run.code, run.output).toBe(1);
  for (const text of ['USER SETUP', 'USER SETUP TEARDOWN', 'user fixture', 'user teardown'])
    expect(run.output).toContain(text);
  expect(await service.allSessions()).toBe(1);
  expect(await service.running()).toEqual([]);
});
test.describe('a run that ends early', () => {
  const scenarios = [
    { name: 'Ctrl-C', end: (run: { child: { pid?: number } }) => process.kill(-(run.child.pid ?? 0), 'SIGINT') },
    {
      name: 'SIGTERM to the runner',
      end: (run: { child: { pid?: number } }) => process.kill(run.child.pid ?? 0, 'SIGTERM'),
    },
    {
      name: 'SIGKILL of the runner',
      end: (run: { child: { pid?: number } }) => process.kill(run.child.pid ?? 0, 'SIGKILL'),
    },
  ];
  for (const { name, end } of scenarios) {
    test(`leaves no browser of a pool or session and no process after ${name}`, async ({ newConsumer, service }) => {
      await service.client.createPool({ name: 'e2e', size: 1 });
      const consumer = await newConsumer();
      const projects = `projects: [{ name: 'pool', use: { hosted: { pool: 'e2e' } } }, { name: 'session' }],`;
      await consumer.write({ 'playwright.config.ts': wrappedConfig('{}', projects), 'tests/a.spec.ts': STAYS });
      const run = startPlaywright(consumer, ['--workers=2'], service.env);
      await run.printed(/WORKER \d+[\s\S]*WORKER \d+/);
      expect(await service.running()).toHaveLength(2);
      end(run);
      await run.exit;
      await expect.poll(() => service.running()).toEqual([]);
      // A worker whose runner was killed ends by itself.
      await expect.poll(() => leftProcesses(consumer.folder)).toEqual([]);
    });
  }

  test('ends the browser at once after SIGKILL of a worker, and the run continues', { tag: '@versions' }, async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(),
      'tests/a.spec.ts': STAYS,
      'tests/b.spec.ts': suite(`test('next', async ({ page }) => { await page.goto('about:blank'); });`),
    });
    const run = startPlaywright(consumer, ['--workers=1'], service.env);
    await run.printed(/WORKER \d+/);
    const [first] = await service.running();
    process.kill(Number(/WORKER (\d+)/.exec(run.output())?.[1]), 'SIGKILL');
    await run.exit;
    const [killed, next] = await reportedTests(consumer);
    expect(killed?.results[0]?.status).toBe('failed');
    expect(next?.results[0]?.status).toBe('passed');
    expect(hostedAttachments(next?.results[0])[0]?.sessionId).not.toBe(first);
    expect(await service.running()).toEqual([]);
    const record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
    expect(record.sessions[0]).toMatchObject({ sessionId: first, endReason: 'worker-died', endConfirmed: true });
  });

  test('leaves no emulator and no Chromium after Ctrl-C', async ({ newConsumer, site }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(`{ service: 'emulator' }`),
      'tests/a.spec.ts': suite(`
        import { readFileSync, readdirSync } from 'node:fs';
        test('stays', async ({ page }) => {
          await page.goto('/');
          // Every descendant of the run, from /proc.
          const parents = new Map(readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).flatMap((pid) => {
            try { return [[Number(pid), Number(readFileSync('/proc/' + pid + '/stat', 'utf8').replace(/^.*\\) /, '').split(' ')[1])]]; } catch { return []; }
          }));
          const root = process.ppid;
          const below = [...parents.keys()].filter((pid) => { for (let at = pid; at > 1; at = parents.get(at) ?? 0) if (at === root) return true; return false; });
          console.log('FAMILY ' + below.join(','));
          await new Promise(() => undefined);
        });`),
    });
    const run = startPlaywright(consumer, [], { SITE_URL: site.url });
    await run.printed(/FAMILY .*\n/);
    const family = (/FAMILY (.*)/.exec(run.output())?.[1] ?? '').split(',').map(Number);
    // Runner, worker, broker, emulator, and several processes of Chromium.
    expect(family.length).toBeGreaterThan(6);
    process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await run.exit;
    const alive = () => family.filter(isRunning);
    await expect.poll(alive).toEqual([]);
  });

  for (const signal of ['SIGHUP', 'SIGKILL'] as const) {
    test(`ends the run without a doubtful browser after ${signal} of the embedded emulator`, async ({
      newConsumer,
      site,
    }) => {
      const consumer = await newConsumer();
      await consumer.write({
        'playwright.config.ts': wrappedConfig(`{ service: 'emulator' }`, 'retries: 1,'),
        'tests/a.spec.ts': suite(`
          test('stays', async ({ page }) => {
            await page.goto('/');
            console.log('THERE');
            await page.waitForFunction(() => false);
          });`),
      });
      const run = startPlaywright(consumer, [], { SITE_URL: site.url });
      await run.printed(/THERE/);
      const emulators = descendants(run.child.pid ?? 0).filter(({ command }) =>
        command.startsWith('poolwright emulator'),
      );
      expect(emulators).toHaveLength(1);
      process.kill(emulators[0]?.pid ?? 0, signal);
      const { code } = await run.exit;
      expect(code).toBe(1);
      const output = run.output();
      expect(output).toContain(`The emulator of this run has ended`);
      expect(output).not.toMatch(/NOT CONFIRMED|may still be running/);
      const record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
      expect(record.sessions).toHaveLength(1);
      expect(record.sessions[0]).toMatchObject({ endReason: 'lost', endConfirmed: true });
      await expect.poll(() => leftProcesses(consumer.folder)).toEqual([]);
    });
  }
});
