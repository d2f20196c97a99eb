import { expect, test } from '../../support/e2e/fixtures.ts';
import { startOnTerminal } from '../../support/e2e/run-playwright.ts';
import { STAYS, suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { TestTerminal } from '../../support/test-terminal.ts';

/**
 * The live line on a real terminal: visible while the run continues, and never in the way of Playwright's own lines.
 */

test.use({ browsers: 'stub' });

const ESC = '\u001b';
/** Escape sequences that only the live line writes: the line, drawn beside the cursor or below it, and its erasure. */
const OWN = new RegExp(`((?:${ESC}D${ESC}\\[A)?${ESC}7[^]*?${ESC}8|${ESC}\\[J)`);
const ERASES = `${ESC}[J`;

/** Tests that pass, fail, are retried, and write incomplete lines; more tests than the terminal has rows. */
const SUITE = suite(`
test('opens', async ({ page }) => { await page.goto('about:blank'); });
test('writes', async ({ page }) => {
  await page.goto('about:blank');
  process.stdout.write('half a ');
  await page.reload();
  console.log('line');
  console.error('and an error');
  process.stdout.write('not ended');
  await page.reload();
});
test('flaky', async ({ page }, { retry }) => {
  await page.goto('about:blank');
  await test.step('a step', async () => { await page.reload(); });
  expect(retry).toBe(1);
});
for (let n = 1; n <= 12; n += 1) test('short ' + n, () => {});`);

/**
 * Compares two terminals, with and without the live line. After every step they differ only in that line. Returns the
 * live lines that were visible, and the screen at the end.
 */
async function compare(output: string, size: { columns: number; rows: number }) {
  const [withLine, without] = [new TestTerminal(size), new TestTerminal(size)];
  const seen: string[] = [];
  let drawn = false;
  for (const part of output.split(OWN).filter((each) => each !== '')) {
    const own = OWN.test(part);
    await withLine.feed(part);
    if (!own) await without.feed(part);
    const [mine, plain] = [withLine.screen, without.screen];
    expect(mine.cursor).toEqual(plain.cursor);
    // The terminal's own output, such as `^C`, may come at any time: it is beside the line until the line is erased.
    if (!own && drawn) continue;
    if (own) drawn = !part.includes(ERASES);
    if (drawn) {
      const line = mine.lines.pop() ?? '';
      expect(line).toMatch(/^poolwright: \d+ leased/);
      seen.push(line);
      while (mine.lines.at(-1) === '') mine.lines.pop();
    }
    expect(mine.lines).toEqual(plain.lines);
  }
  return { seen, lines: withLine.screen.lines };
}

const OPENS = suite(`test('opens', async ({ page }) => { await page.goto('about:blank'); });`);

/** Holds its browser until the line has shown it: the line is drawn at most twice a second. */
const HOLDS = suite(`
import { existsSync } from 'node:fs';
test('holds', async ({ page }) => {
  test.setTimeout(0);
  await page.goto('about:blank');
  while (!existsSync('go-on')) await new Promise((resolve) => setTimeout(resolve, 50));
});`);

test.describe('at a limit of one', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 1 } });

  for (const [reporter, tag] of [
    ['list', []],
    // Whatever a reporter writes: test/unit/report/status-line.spec.ts.
    ['line', ['@slow']],
    ['dot', ['@slow']],
  ] as const) {
    test(`live line › does not disturb the ${reporter} reporter`, { tag: ['@versions', ...tag] }, async ({
      newConsumer,
      service,
    }) => {
      const { sessionId } = await service.client.createSession({ note: 'somebody' });
      const consumer = await newConsumer();
      await consumer.write({
        'playwright.config.ts': wrappedConfig(`{ session: { type: 'hosted_stealth' } }`, 'retries: 1, workers: 2,')
          .replace('use: {', 'use: { viewport: { width: 800, height: 600 },')
          .replace(`reporter: [['list'], ['json']]`, `reporter: '${reporter}'`),
        'tests/a.spec.ts': SUITE,
        'tests/b.spec.ts': HOLDS,
      });
      // Wide enough for the whole line.
      const size = { columns: 160, rows: 12 };
      const run = startOnTerminal(consumer, [], service.env, size);
      await run.printed(/0 leased, 2 waiting; ([4-9]|\d{2,}) s: the workspace is at its concurrent-browser limit/);
      await service.client.stopSession(sessionId);
      await run.printed(/poolwright: 1 leased[^\n]*; 1 created/);
      await consumer.write({ 'go-on': '' });
      await run.exit;
      const { seen, lines } = await compare(run.output(), size);
      expect(lines.join('\n')).toMatch(/1 flaky/);
      expect(seen).toContainEqual(expect.stringMatching(/^poolwright: 1 leased.*; 1 created$/));
      expect(lines.filter((line) => /poolwright: \d+ leased|without a browser/.test(line))).toEqual([]);
      // Notices are printed when the tests are over, above the summary.
      const said = lines.findIndex((line) => line.includes('keeps its own identity; ignored: viewport'));
      const summary = lines.findIndex((line) => line.startsWith('poolwright: 4 tests on 1 hosted browser'));
      expect(said).toBeGreaterThan(0);
      expect(summary - said).toBeGreaterThan(0);
      expect(summary - said).toBeLessThan(6);
    });
  }
});

// More cases without a live line: test/unit/report/live-line.spec.ts.
test('live line › is removed at Ctrl-C, and not shown through a pipe', async ({ newConsumer, service }) => {
  const consumer = await newConsumer();
  const size = { columns: 60, rows: 20 };
  const env = service.env;
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': STAYS });
  const interrupted = startOnTerminal(consumer, [], env, size);
  await interrupted.printed(/WORKER \d+/);
  await interrupted.printed(/poolwright: 1 leased; 1 created/);
  interrupted.child.stdin?.write('\u0003');
  await interrupted.exit;
  const { lines } = await compare(interrupted.output().replace('^C', ''), size);
  expect(lines.join('\n')).toContain('1 interrupted');
  expect(lines.join('\n')).not.toContain('1 leased;');

  await consumer.write({ 'tests/a.spec.ts': OPENS });
  const piped = startOnTerminal(consumer, [], env, { ...size, through: 'cat' });
  expect((await piped.exit).code, piped.output()).toBe(0);
  expect(piped.output()).not.toMatch(OWN);
  expect(piped.output()).toContain('poolwright: 1 test on 1 hosted browser');
});

test.describe('when a browser cannot be ended', () => {
  const match = { method: 'DELETE', path: '/v1/browser/session' } as const;
  test.use({ serviceOptions: { faults: [{ match, effect: { status: 400, body: { error: 'no' } } }] } });

  test('live line › prints the last messages of the run', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': OPENS });
    const size = { columns: 200, rows: 20 };
    const run = startOnTerminal(consumer, [], service.env, size);
    await run.exit;
    const { lines } = await compare(run.output(), size);
    const words = lines.filter((line) => line.includes('may still be running: its end was not confirmed'));
    expect(words).toEqual([expect.stringMatching(/^poolwright: session /)]);
  });
});
