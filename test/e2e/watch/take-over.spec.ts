import { violationsOn } from '../../support/accessibility.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { startCommand } from '../../support/e2e/run-command.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { ownTitle } from '../../support/watch/watched-run.ts';

/** A person logs in by hand, on the page of `poolwright watch`. */

const VIEWPORT = { width: 800, height: 500 };
const LOGIN = `data:text/html,<title>login</title><body style="margin:0;height:3000px"><style>input,button{display:block;box-sizing:border-box;width:400px;height:60px}</style><input><input><button onclick="document.title='hello '+document.querySelector('input').value">Log in</button>`;

test.use({ browsers: 'shell' });

test('clicks, types, pastes and scrolls in the test, which continues with that and saves the storage state', async ({
  newConsumer,
  service,
  page,
}) => {
  const consumer = await newConsumer();
  const title = ownTitle('takes a login by hand');
  await consumer.write({
    'playwright.config.js': `
      const { withHostedBrowsers } = require('poolwright');
      module.exports = withHostedBrowsers({ testDir: '.', use: { viewport: ${JSON.stringify(VIEWPORT)} } });`,
    'a.spec.js': `
      const { test } = require('poolwright');
      test('${title}', async ({ page, hostedSession }) => {
        await page.goto(${JSON.stringify(LOGIN)});
        await hostedSession.hold('Log in with the code');
        const inputs = await page.locator('input').evaluateAll((all) => all.map(({ value }) => value));
        // A page scrolls some frames after the wheel has turned.
        await page.waitForFunction(() => scrollY > 200);
        console.log('DONE', JSON.stringify([await page.title(), inputs]));
        await page.context().storageState({ path: 'state.json' });
      });`,
  });
  const watch = startCommand(consumer, ['node_modules/poolwright/dist/cli.js', 'watch', '--json'], {});
  await watch.printed(/\}/);
  const { url } = JSON.parse(/\{.*\}/.exec(watch.output())?.[0] ?? '');
  await page.goto(url);
  const run = startPlaywright(consumer, ['--workers=1'], service.env);
  const tile = page.getByRole('listitem').filter({ hasText: title });
  await expect(tile.getByText('Log in with the code.')).toBeVisible();
  await tile.getByRole('button', { name: 'Take over' }).click();
  const dialog = page.getByRole('dialog');
  const screen = dialog.getByRole('textbox');
  await expect(screen).toBeVisible();
  expect(await violationsOn(page)).toEqual([]);

  /** Clicks a place of the hosted page. */
  const click = async (x: number, y: number) => {
    const { width = 0, height = 0 } = (await screen.boundingBox()) ?? {};
    await screen.click({ position: { x: (x / VIEWPORT.width) * width, y: (y / VIEWPORT.height) * height } });
  };
  await click(200, 30);
  await page.keyboard.type('Jane');
  await page.keyboard.press('Tab');
  const clipboard = await page.context().newPage();
  await clipboard.setContent('<input value="4 2 + ü 日本">');
  await clipboard.locator('input').press('ControlOrMeta+a');
  await clipboard.locator('input').press('ControlOrMeta+c');
  await clipboard.close();
  await page.bringToFront();
  await screen.focus();
  await page.keyboard.press('ControlOrMeta+v');
  await click(200, 150);
  await screen.hover();
  await page.mouse.wheel(0, 600);

  await page.keyboard.press('Control+Shift+Enter');
  await dialog.getByRole('button', { name: 'Continue the test' }).click();
  expect((await run.exit).code, run.output()).toBe(0);
  expect(run.output()).toContain('DONE ["hello Jane",["Jane","4 2 + ü 日本"]]');
  expect(JSON.parse(await consumer.read('state.json'))).toHaveProperty('cookies');
  const record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
  expect(record.sessions[0].tests[0].holds).toMatchObject([{ reason: 'Log in with the code', end: 'released' }]);

  watch.child.kill('SIGINT');
  expect((await watch.exit).code, watch.output()).toBe(0);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});
