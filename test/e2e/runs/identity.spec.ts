import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { wrappedConfig } from '../../support/e2e/suites.ts';
import { FINGERPRINT, type Fingerprint, startLookingGlass, untouched } from './fingerprint.ts';

const test = base.extend<{ glass: Awaited<ReturnType<typeof startLookingGlass>> }>({
  glass: async ({}, use) => {
    const glass = await startLookingGlass();
    await use(glass);
    glass.close();
  },
});

/** All settings that would reveal a stealth browser, in one config. */
const EMULATING = `use: {
  baseURL: process.env.SITE_URL,
  ...devices['Desktop Chrome'],
  viewport: { width: 700, height: 500 }, deviceScaleFactor: 3, hasTouch: true,
  locale: 'fr-FR', timezoneId: 'Asia/Tokyo', colorScheme: 'dark',
  contextOptions: { screen: { width: 800, height: 600 }, reducedMotion: 'reduce', forcedColors: 'active' },
},`;
const SESSION = `{ type: 'hosted_stealth', country: 'DE', windowSize: '1100x900' }`;

const config = (projects: string) =>
  wrappedConfig('{}', projects)
    .replace('import { defineConfig }', 'import { defineConfig, devices }')
    .replace('use: { baseURL: process.env.SITE_URL },', EMULATING);

const TESTS = `
  for (const page_ of ['first', 'second']) {
    test(page_, async ({ page }, testInfo) => {
      await page.goto('/' + testInfo.project.name);
      console.log('SEEN ' + JSON.stringify([testInfo.project.name, await page.evaluate(${JSON.stringify(FINGERPRINT)})]));
    });
  }
  test('a separate context', async ({ browser }, testInfo) => {
    const context = await browser.newContext({ locale: 'it-IT', baseURL: process.env.SITE_URL });
    const page = await context.newPage();
    await page.goto('/' + testInfo.project.name);
    console.log('SEEN ' + JSON.stringify([testInfo.project.name, await page.evaluate(${JSON.stringify(FINGERPRINT)})]));
    await context.close();
  });
  test('launched', async ({ playwright: { chromium } }, testInfo) => {
    test.skip(testInfo.project.name !== 'isolated');
    const look = async (page) => {
      await page.goto(process.env.SITE_URL + '/' + testInfo.project.name);
      console.log('SEEN ' + JSON.stringify([testInfo.project.name, await page.evaluate(${JSON.stringify(FINGERPRINT)})]));
    };
    const browser = await chromium.launch();
    await look(await browser.newPage({ locale: 'it-IT' }));
    await browser.close();
    const context = await chromium.launchPersistentContext('', { colorScheme: 'dark' });
    await look(context.pages()[0]);
    await context.close();
  });`;

/** For a while, full Chromium shows a bar above its pages: without a sandbox, as root. */
function withoutBar({ inner, ...others }: Fingerprint): Fingerprint {
  const [width, height] = inner as [number, number];
  return { ...others, width, isOfWindow: height > 700 };
}

function seenBy(project: string, output: string): Fingerprint[] {
  const seen = [...output.matchAll(/SEEN (.*)/g)].map(([, json]) => JSON.parse(String(json)));
  return seen.filter(([name]) => name === project).map(([, fingerprint]) => fingerprint);
}

test('identity › of a stealth browser is kept', { tag: '@versions' }, async ({ runSuite, service, glass }) => {
  const run = await runSuite({
    tests: TESTS,
    files: {
      'playwright.config.ts': config(`projects: [
      { name: 'isolated', use: { hosted: { session: ${SESSION} } } },
      { name: 'persistent', use: { hosted: { session: ${SESSION}, context: 'persistent' } } },
      { name: 'override', grep: /first/, use: { hosted: { session: ${SESSION}, identity: 'override' } } },
      { name: 'plain', grep: /first/, use: { hosted: { session: { country: 'DE' } } } },
    ],`),
    },
    args: ['--workers=2'],
    env: { SITE_URL: glass.url },
  });

  const { sessionId, cdpUrl } = await service.client.createSession({
    type: 'hosted_stealth',
    country: 'DE',
    windowSize: '1100x900',
  });
  const own = await untouched(String(cdpUrl), `${glass.url}/untouched`);
  await service.client.stopSession(sessionId);
  for (const project of ['isolated', 'persistent']) {
    for (const seen of seenBy(project, run.output)) expect(withoutBar(seen), project).toEqual(withoutBar(own));
    expect(seenBy(project, run.output)).toHaveLength(project === 'isolated' ? 5 : 3);
    expect(glass.headersOf(`/${project}`), project).toEqual(glass.headersOf('/untouched'));
  }
  for (const project of ['override', 'plain']) {
    expect(seenBy(project, run.output)[0]).toMatchObject({
      languages: ['fr-FR', 'fr-FR'],
      timezone: 'Asia/Tokyo',
      inner: [700, 500],
      scale: 3,
      media: [true, true, true, false, false, true],
    });
  }
  // Printed once per project, however many workers and tests it has.
  const said = run.output.split('\n').filter((line) => line.includes('keeps its own identity'));
  const names =
    'userAgent, viewport, (screen, )?deviceScaleFactor, hasTouch, locale, timezoneId, colorScheme, reducedMotion, forcedColors';
  expect(said.sort()).toEqual(
    ['isolated', 'persistent'].map((project) =>
      expect.stringMatching(
        new RegExp(
          `^poolwright: project "${project}": a hosted_stealth browser keeps its own identity; ignored: ${names} \\(`,
        ),
      ),
    ),
  );
});
