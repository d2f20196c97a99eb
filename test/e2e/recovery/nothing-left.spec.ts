import { expect, test } from '../../support/e2e/fixtures.ts';
import { descendants, leftProcesses } from '../../support/e2e/process-tree.ts';
import { hostedAttachments, reportedTests, startPlaywright } from '../../support/e2e/run-playwright.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import { STAYS, suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { isRunning } from '../../support/processes.ts';

/** However a run ends, every browser is given back exactly once, and none of our processes is left. */

test.use({ browsers: 'stub' });

test("a user's fixture or global teardown that throws › leaves no browser", async ({ runSuite, service }) => {
  const run = await runSuite({
    config: `globalSetup: './setup.ts', globalTeardown: './teardown.ts',`,
    tests: `
      const broken = test.extend({ broken: async ({ page }, use) => { await page.goto('about:blank'); throw new Error('user fixture'); } });
      broken('never starts', async ({ broken }) => {});`,
    files: {
      'setup.ts': `export default () => { console.log('USER SETUP'); return () => { console.log('USER SETUP TEARDOWN'); }; };`,
      'teardown.ts': `export default () => { throw new Error('user teardown'); };`,
    },
    code: 1,
  });
  for (const text of ['USER SETUP', 'USER SETUP TEARDOWN', 'user fixture', 'user teardown'])
    expect(run.output).toContain(text);
  expect(await service.allSessions()).toBe(1);
  expect(await service.running()).toEqual([]);
});

/** Ways in which a run ends early: whom the signal reaches. */
const ENDS = {
  'Ctrl-C': ['SIGINT', 'group'],
  'SIGTERM to the runner': ['SIGTERM', 'runner'],
  'SIGKILL of the runner': ['SIGKILL', 'runner'],
} as const;

test.describe('a run that ends early', () => {
  for (const [name, [signal, whom]] of Object.entries(ENDS)) {
    test(`${name} › leaves no browser of a pool or session and no process`, async ({ startSuite, service }) => {
      await service.client.createPool({ name: 'e2e', size: 1 });
      const run = await startSuite({
        config: `projects: [{ name: 'pool', use: { hosted: { pool: 'e2e' } } }, { name: 'session' }],`,
        tests: STAYS,
        args: ['--workers=2'],
      });
      await run.printed(/WORKER \d+[\s\S]*WORKER \d+/);
      expect(await service.running()).toHaveLength(2);
      const runner = run.child.pid ?? 0;
      process.kill(whom === 'group' ? -runner : runner, signal);
      await run.exit;
      await expect.poll(() => service.running()).toEqual([]);
      // A worker whose runner was killed ends by itself.
      await expect.poll(() => leftProcesses(run.directory)).toEqual([]);
    });
  }

  test('SIGKILL of a worker › ends its browser at once, and the run continues', { tag: '@versions' }, async ({
    startSuite,
    service,
  }) => {
    const run = await startSuite({
      tests: { a: STAYS, b: `test('next', async ({ page }) => { await page.goto('about:blank'); });` },
      args: ['--workers=1'],
    });
    await run.printed(/WORKER \d+/);
    const [first] = await service.running();
    process.kill(Number(/WORKER (\d+)/.exec(run.output())?.[1]), 'SIGKILL');
    await run.exit;
    const [killed, next] = await reportedTests(run.consumer);
    expect(killed?.results[0]?.status).toBe('failed');
    expect(next?.results[0]?.status).toBe('passed');
    expect(hostedAttachments(next?.results[0])[0]?.sessionId).not.toBe(first);
    expect(await service.running()).toEqual([]);
    const record = await recordOf(run.consumer);
    expect(record.sessions[0]).toMatchObject({ sessionId: first, endReason: 'worker-died', endConfirmed: true });
  });

  test('Ctrl-C › leaves no emulator and no Chromium', async ({ newConsumer, site }) => {
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

  for (const { signal, tag } of [
    { signal: 'SIGHUP', tag: '@slow' },
    { signal: 'SIGKILL', tag: [] },
  ] as const) {
    test(`${signal} of the embedded emulator › ends the run without a doubtful browser`, {
      tag: tag as string | string[],
    }, async ({ newConsumer, site }) => {
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
      await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
    });
  }
});
