import { expect, test } from '../../support/emulator/fixtures.ts';
import { requires } from '../../support/requires.ts';

interface Look {
  userAgent: string;
  webdriver: boolean;
  languages: string[];
  timezone: string;
  screen: string;
  window: string;
  mouse: boolean;
  scrollbar: number;
}

/** What a page sees. A string, because the tests have no DOM types. */
const look = `({
  userAgent: navigator.userAgent,
  webdriver: navigator.webdriver,
  languages: navigator.languages,
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  screen: screen.width + 'x' + screen.height,
  window: outerWidth + 'x' + outerHeight,
  mouse: matchMedia('(hover: hover) and (pointer: fine) and (any-hover: hover) and (any-pointer: fine)').matches,
  scrollbar: (() => {
    document.documentElement.style.overflow = 'scroll';
    return innerWidth - document.documentElement.clientWidth;
  })(),
})`;

test.describe('the browser', () => {
  for (const type of ['hosted_stealth', 'hosted_privacy']) {
    test(`of type ${type} does not reveal automation`, async ({ start, connect, site }) => {
      const { api } = await start({ allowLoopback: true });
      const browser = await connect((await api.create({ type })).body.cdpUrl);
      const page = browser.contexts()[0]?.pages()[0];
      const response = await page?.goto(site.url);
      const sent = await response?.request().allHeaders();
      const seen = await page?.evaluate<Look>(look);
      expect(seen?.webdriver).toBe(false);
      expect(seen?.mouse).toBe(true);
      expect(seen?.scrollbar).toBeGreaterThan(0);
      expect(seen?.userAgent).toMatch(/ Chrome\/\d+\.0\.0\.0 Safari/);
      expect(sent?.['user-agent']).toBe(seen?.userAgent);
      expect(JSON.stringify(sent)).not.toMatch(/headless/i);
    });
  }

  test('of type hosted is a plain Chromium, which reveals automation', async ({ start, connect }) => {
    const { api } = await start();
    const page = (await connect((await api.create({ type: 'hosted' })).body.cdpUrl)).contexts()[0]?.pages()[0];
    const seen = await page?.evaluate<Look>(look);
    expect([seen?.webdriver, /headless/i.test(seen?.userAgent ?? '')]).toContain(true);
  });

  test('has the country, sizes and language it was created with', async ({ start, connect, site }) => {
    const { api } = await start({ allowLoopback: true });
    const { cdpUrl } = (
      await api.create({ country: 'DE', windowSize: '1000x700', displaySize: '1600x900', browserCheck: true })
    ).body;
    const page = (await connect(cdpUrl)).contexts()[0]?.pages()[0];
    const response = await page?.goto(site.url);
    expect(await page?.evaluate<Look>(look)).toMatchObject({
      timezone: 'Europe/Berlin',
      languages: ['de-DE', 'de', 'en-US', 'en'],
      screen: '1600x900',
      window: '1000x700',
    });
    expect((await response?.request().allHeaders())?.['accept-language']).toMatch(/^de-DE,de/);
  });

  test('has a US timezone and language and a desktop window by default', async ({ start, connect }) => {
    const { api } = await start();
    const page = (await connect((await api.create()).body.cdpUrl)).contexts()[0]?.pages()[0];
    expect(await page?.evaluate<Look>(look)).toMatchObject({
      timezone: 'America/New_York',
      languages: ['en-US', 'en'],
      screen: '1920x1080',
      window: '1280x800',
    });
  });

  test('opens the initial address', async ({ start, connect, site }) => {
    const { api } = await start({ allowLoopback: true });
    const { cdpUrl } = (await api.create({ url: `${site.url}/big`, timezone: 'America/Chicago' })).body;
    const context = (await connect(cdpUrl)).contexts()[0];
    // While the page loads its first address, the client may see it only after it has connected.
    await expect.poll(() => context?.pages()[0]?.title()).toBe('site');
    const page = context?.pages()[0];
    expect(page?.url()).toBe(`${site.url}/big`);
    expect((await page?.evaluate<Look>(look))?.timezone).toBe('America/Chicago');
  });

  test('has no secret in its environment or command line', async ({ start }) => {
    requires('Linux');
    const { readFileSync } = await import('node:fs');
    const emulator = await start({ apiKey: 'key-on-no-command-line' });
    await emulator.api.create({ url: 'https://site.test/?token=not-on-the-command-line' });
    const [pid] = emulator.browserPids();
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toMatch(/on-no-command-line|token=/);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('POOLWRIGHT_');
  });
});
