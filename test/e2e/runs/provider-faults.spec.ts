import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { providerFile } from '../../support/e2e/provider-file.ts';

/**
 * A provider that eats the memory, or blocks its thread, while a test of the run has a browser: only the provider's
 * process ends. Limits are the real ones: Node's heap, and the time limit of a blocked process. Each time, a provider's
 * process meets both without a run (unit/providers/module/module-process.spec.ts), and a run one that ends its process
 * (own-provider.spec.ts).
 */

test.use({ browsers: 'stub' });

const OPTION = `{ provider: './browsers.ts' }`;

/** The test with the first browser keeps it until the provider is at its worst, or in its next process. */
const TWO = `import { existsSync } from 'node:fs';
  for (const name of ['one', 'two']) test(name, async ({ page }) => {
    await page.goto('about:blank');
    await expect.poll(() => existsSync(process.env.UNTIL), { timeout: 100_000 }).toBe(true);
    expect(await page.evaluate('1 + 1')).toBe(2);
  });`;

const FILE = `import { existsSync, writeFileSync } from 'node:fs';
  if (existsSync('begun')) writeFileSync('again', '');
  let acquires = 0;
  function eat(): never { for (const eaten: unknown[] = []; ; ) eaten.push(new Array(1_000_000).fill(0.5)); }
  function block(): never { for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }`;

/** The second \`acquire\` of the first process does this when it has a browser, which nobody else knows. */
const once = (does: string) => `
    if (++acquires === 2 && !existsSync('begun')) {
      await call('POST', 'session', { note: label }, signal);
      writeFileSync('begun', '');
      ${does}
    }`;

const PARALLEL = { config: 'fullyParallel: true, timeout: 120_000,', args: ['--workers=2'], options: OPTION };

for (const { title, does, until, said } of [
  {
    title: 'eats its memory: the test beside it goes on, the next call has another process, and nothing is left',
    does: 'eat();',
    until: 'again',
    said: /browsers\.ts: `acquire` ended its process \(SIGABRT, perhaps out of memory\)/,
  },
  {
    title: 'blocks its thread: it is ended after 45 s in which a release waits, and the run goes on',
    does: 'block();',
    until: 'begun',
    said: /browsers\.ts: `acquire` blocked its process for 4\d s/,
  },
]) {
  test(title, { tag: '@slow' }, async ({ runSuite, service }) => {
    test.setTimeout(180_000);
    const { output, record, consumer } = await runSuite({
      ...PARALLEL,
      tests: TWO,
      env: { UNTIL: until },
      files: { 'browsers.ts': providerFile({ file: FILE, acquire: once(does) }) },
    });
    expect(output).toContain('2 passed');
    expect(output).not.toContain('the broker of this run died');
    expect(existsSync(join(consumer.directory, until))).toBe(true);
    expect(await consumer.read('test-results/poolwright/broker.log')).toMatch(said);
    const { sessions } = await record();
    expect(sessions.map(({ endConfirmed }) => endConfirmed)).not.toContain(false);
    expect(await service.running()).toEqual([]);
  });
}

test('eats its memory each time: one error names file and function', { tag: '@slow' }, async ({
  runSuite,
  service,
}) => {
  test.setTimeout(180_000);
  const { output } = await runSuite({
    options: OPTION,
    tests: `test('a', async ({ page }) => { await page.goto('about:blank'); });`,
    args: ['--workers=1'],
    files: { 'browsers.ts': providerFile({ file: FILE, acquire: 'eat();' }) },
    code: 1,
  });
  expect(output).toContain('browsers.ts: `acquire` ended its process (SIGABRT, perhaps out of memory)');
  expect(output).not.toContain('the broker of this run died');
  expect(await service.running()).toEqual([]);
});
