import { expect, test } from '../../support/e2e/fixtures.ts';

/** The output at the end of a run, and its budget. */

/** Pages use the browser's own network, where bytes are counted. */
const OPTIONS = `{ exposeNetwork: '', budget: { bandwidthMB: 10, sessions: 1 } }`;

const SUITE = `
test('opens', async ({ page }) => { await page.goto('/'); });
test('no browser', () => {});`;

test('summary › leads to record, timeline and HTML report, without a budget that is kept', async ({
  runSuite,
  service,
}) => {
  const run = await runSuite({
    options: OPTIONS,
    config: "reporter: [['list'], ['json'], ['html', { open: 'never', outputFolder: 'my report' }]],",
    tests: SUITE,
  });
  expect(run.output).toContain('poolwright: 1 test on 1 hosted browser\n');
  expect(run.output).not.toContain('budget');
  expect(run.output).toMatch(/ {2}browsers {2}started in \d+\.\d s/);
  expect(run.output).toMatch(
    / {2}used {6}\d+\.\d kB by the service, 20\d\.\d kB observed.*; \d+ cents? by the workspace's balance/,
  );
  expect(run.output).toContain('  files     test-results/poolwright/timeline.html, test-results/poolwright/run.json\n');

  const page = await run.consumer.read('test-results/poolwright/timeline.html');
  const data = JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '');
  expect(data.report).toBe('../../my%20report/index.html');
  // The HTML report identifies the test by this ID.
  const report: { suites: { specs: { id: string; title: string }[] }[] } = JSON.parse(
    await run.consumer.read('report.json'),
  );
  expect(data.tests).toHaveLength(1);
  expect(data.tests[0]).toContain(report.suites[0]?.specs.find(({ title }) => title === 'opens')?.id);
  expect(page).not.toContain(service.emulator.apiKey);
  expect(page).not.toContain('/cdp/');
});

test('budget › fails the run when it is exceeded, without our reporter, too', async ({ runSuite }) => {
  const run = await runSuite({
    options: `{ exposeNetwork: '', budget: { bandwidthMB: 0.1, sessions: 1 } }`,
    tests: SUITE,
    args: ['--reporter=list'],
    code: 1,
  });
  expect(run.output).toMatch(/budget exceeded: bandwidthMB is limited to 0\.1, but the run used 0\.2\d* MB\n/);
  expect(run.output).toContain('2 passed');
});

test.describe('where no page matters', () => {
  test.use({ browsers: 'stub' });

  test('reporter › is loaded once when the config contains it, with its options', { tag: '@slow' }, async ({
    runSuite,
  }) => {
    const config = "reporter: [['list'], ['poolwright/reporter', { budget: { sessions: 0 } }]],";
    const tests = `test('opens', async ({ page }) => { await page.goto('about:blank'); });`;
    const run = await runSuite({ config, tests, code: 1 });
    expect(run.output.match(/^poolwright: 1 test on/gm)).toHaveLength(1);
    expect(run.output).toMatch(/budget exceeded: sessions is limited to 0, but the run used 1 browser$/m);
  });
});
