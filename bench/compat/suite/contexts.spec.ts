import { expect, test } from '../test.ts';

test('context: fresh for every test', async ({ context, page }) => {
  expect(await context.cookies()).toEqual([]);
  await page.goto('/');
  await page.evaluate(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: what pages do
    document.cookie = 'left=behind';
  });
});
test('context: fresh for every test, again', async ({ context }) => {
  expect(await context.cookies()).toEqual([]);
});
test('browser.contexts() is empty before the first one', async ({ browser }) => {
  expect(browser.contexts()).toHaveLength(0);
});
test('several contexts and pages', async ({ browser, page }) => {
  const other = await browser.newContext();
  const second = await other.newPage();
  await Promise.all([page.goto('/'), second.goto('/')]);
  expect(browser.contexts()).toHaveLength(2);
  await other.close();
});
test('browser.newPage()', async ({ browser, baseURL }) => {
  const page = await browser.newPage();
  await page.goto(baseURL ?? '');
  await page.close();
});
test('context.browser() is the fixture', async ({ browser, context }) => {
  expect(context.browser()).toBe(browser);
});
test('storage state from a setup project', async ({ browser }) => {
  const context = await browser.newContext({ storageState: process.env.COMPAT_STATE });
  const page = await context.newPage();
  await page.goto(`${process.env.COMPAT_SITE}/`);
  expect(await page.evaluate(() => localStorage.getItem('user'))).toBe('Ada');
  await context.close();
});
test.describe('test.use', () => {
  test.use({
    viewport: { width: 700, height: 500 },
    locale: 'de-DE',
    timezoneId: 'Europe/Berlin',
    colorScheme: 'dark',
    userAgent: 'compat/1',
  });
  test('test.use: viewport, locale, time zone, colour scheme, user agent', async ({ page }) => {
    await page.goto('/');
    expect(page.viewportSize()).toEqual({ width: 700, height: 500 });
    expect(
      await page.evaluate(() => [
        innerWidth,
        navigator.language,
        Intl.DateTimeFormat().resolvedOptions().timeZone,
        matchMedia('(prefers-color-scheme: dark)').matches,
        navigator.userAgent,
      ]),
    ).toEqual([700, 'de-DE', 'Europe/Berlin', true, 'compat/1']);
  });
});
test.describe('permissions', () => {
  test.use({ geolocation: { latitude: 52.5, longitude: 13.4 }, permissions: ['geolocation'] });
  test('geolocation and permissions', async ({ page }) => {
    await page.goto('/');
    const latitude = await page.evaluate(
      () =>
        new Promise((resolve) => navigator.geolocation.getCurrentPosition(({ coords }) => resolve(coords.latitude))),
    );
    expect(latitude).toBe(52.5);
  });
});
test('clipboard', async ({ context, page }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/');
  await page.bringToFront();
  await page.evaluate(() => navigator.clipboard.writeText('copied'));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('copied');
});
test('offline', async ({ context, page }) => {
  await page.goto('/');
  await context.setOffline(true);
  expect(await page.evaluate(() => navigator.onLine)).toBe(false);
});
test('extra HTTP headers and basic authentication', async ({ browser, baseURL }) => {
  const context = await browser.newContext({
    extraHTTPHeaders: { 'x-compat': 'yes' },
    httpCredentials: { username: 'ada', password: 'lovelace' },
    baseURL,
  });
  const page = await context.newPage();
  const response = await page.goto('/headers');
  expect(await response?.json()).toMatchObject({ 'x-compat': 'yes' });
  expect((await page.goto('/private'))?.status()).toBe(200);
  await context.close();
});
test.describe('beforeAll', () => {
  let title: string;
  test.beforeAll(async ({ browser }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${process.env.COMPAT_SITE}/`);
    title = await page.title();
    await context.close();
  });
  test('beforeAll with a separate context', async () => {
    expect(title).toBe('compat');
  });
});
test.describe('serial', () => {
  test.describe.configure({ mode: 'serial' });
  test('describe.serial: first', async ({ page }) => {
    await page.goto('/');
  });
  test('describe.serial: second', async ({ page }) => {
    await page.goto('/');
  });
});
test.describe('retries', () => {
  test.describe.configure({ retries: 1 });
  test('retries: the second try has a working page', async ({ page }, { retry }) => {
    await page.goto('/');
    expect(await page.title()).toBe(retry === 0 ? 'to fail' : 'compat');
  });
});
test('webServer', async ({ page }) => {
  await page.goto(`http://localhost:${process.env.COMPAT_WEB_PORT}/`);
  await expect(page.locator('body')).toHaveText('from the webServer');
});
