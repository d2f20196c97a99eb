import { expect, test } from '../test.ts';

test.beforeEach(async ({ page }) => {
  await page.goto('/');
});

test('locators, clicks, keyboard', async ({ page }) => {
  await page.getByLabel('Name').fill('Ada');
  await page.getByRole('button', { name: 'Greet' }).click();
  await expect(page.getByRole('status')).toHaveText('Hi Ada');
  await page.getByLabel('Name').press('Control+A');
  await page.keyboard.type('Grace');
  await expect(page.getByLabel('Name')).toHaveValue('Grace');
});
test('dialogs', async ({ page }) => {
  page.on('dialog', (dialog) => dialog.accept('typed'));
  expect(await page.evaluate(() => prompt('Name?'))).toBe('typed');
});
test('popups', async ({ page }) => {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => void window.open('/other'))]);
  await expect(popup).toHaveTitle('other');
});
test('iframes', async ({ page }) => {
  await page.evaluate(() => {
    const frame = document.createElement('iframe');
    frame.src = '/other';
    document.body.append(frame);
  });
  await expect(page.frameLocator('iframe').getByText('the other page')).toBeVisible();
});
test('goBack and goForward', async ({ page }) => {
  await page.goto('/other');
  await page.goBack();
  await expect(page).toHaveTitle('compat');
  await page.goForward();
  await expect(page).toHaveTitle('other');
});
test('page.screenshot()', async ({ page }) => {
  expect((await page.screenshot({ fullPage: true })).length).toBeGreaterThan(1_000);
});
test('toHaveScreenshot()', async ({ page }) => {
  await page.setContent(
    '<body style="margin:0;background:#0a0"><div style="width:40px;height:40px;background:#00a"></div></body>',
  );
  await expect(page).toHaveScreenshot('square.png', { maxDiffPixelRatio: 0.01 });
});
test('page.pdf()', async ({ page }) => {
  expect((await page.pdf()).subarray(0, 4).toString()).toBe('%PDF');
});
test('console and page errors', async ({ page }) => {
  const [message] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => console.log('said'))]);
  expect(message.text()).toBe('said');
  const [error] = await Promise.all([
    page.waitForEvent('pageerror'),
    page.evaluate(
      () =>
        void setTimeout(() => {
          throw new Error('thrown');
        }, 0),
    ),
  ]);
  expect(error.message).toBe('thrown');
});
test('exposeFunction and addInitScript', async ({ page }) => {
  await page.exposeFunction('add', (a: number, b: number) => a + b);
  await page.addInitScript('window.early = 1');
  await page.goto('/other');
  expect(await page.evaluate('add(window.early, 2)')).toBe(3);
});
test('clock', async ({ page }) => {
  await page.clock.install({ time: new Date('2024-02-02T08:00:00Z') });
  await page.goto('/other');
  await page.clock.fastForward('01:00:00');
  expect(await page.evaluate(() => new Date().toISOString())).toMatch(/^2024-02-02T09:00/);
});
test('web workers', async ({ page }) => {
  const [worker] = await Promise.all([
    page.waitForEvent('worker'),
    page.evaluate(
      () => void new Worker(URL.createObjectURL(new Blob(['self.answer = 42'], { type: 'text/javascript' }))),
    ),
  ]);
  expect(await worker.evaluate('self.answer')).toBe(42);
});
test('accessibility snapshot', async ({ page }) => {
  await expect(page.getByRole('main')).toMatchAriaSnapshot(`
    - main:
      - textbox "Name"
      - button "Greet"
      - status
  `);
});
test('coverage', async ({ page }) => {
  await page.coverage.startJSCoverage();
  await page.goto('/other');
  expect(Array.isArray(await page.coverage.stopJSCoverage())).toBe(true);
});
test('CDP session', async ({ context, page }) => {
  const session = await context.newCDPSession(page);
  const { result } = await session.send('Runtime.evaluate', { expression: '6 * 7' });
  expect(result.value).toBe(42);
});
