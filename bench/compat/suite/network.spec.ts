import { expect, test } from '../test.ts';

test('page.route: fulfill, abort, continue', async ({ page }) => {
  await page.route('**/made-up', (route) => route.fulfill({ json: { made: 'up' } }));
  await page.route('**/blocked', (route) => route.abort());
  await page.goto('/');
  expect(await page.evaluate(async () => (await fetch('/made-up')).json())).toEqual({ made: 'up' });
  expect(
    await page.evaluate(() =>
      fetch('/blocked').then(
        () => 'got',
        () => 'failed',
      ),
    ),
  ).toBe('failed');
});
test('route.fetch', async ({ page }) => {
  await page.route('**/headers', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), patched: true } });
  });
  await page.goto('/');
  expect(await page.evaluate(async () => (await fetch('/headers')).json())).toMatchObject({ patched: true });
});
test('waitForResponse, request.allHeaders, response.body', async ({ page }) => {
  await page.goto('/');
  const [response] = await Promise.all([
    page.waitForResponse('**/headers'),
    page.evaluate(() => void fetch('/headers')),
  ]);
  expect((await response.request().allHeaders())['user-agent']).toBeTruthy();
  expect((await response.body()).length).toBeGreaterThan(10);
});
test('HAR: recorded and replayed', async ({ browser, baseURL }, testInfo) => {
  const path = testInfo.outputPath('site.har');
  const recording = await browser.newContext({ recordHar: { path }, baseURL });
  await (await recording.newPage()).goto('/headers');
  await recording.close();
  const replaying = await browser.newContext({ baseURL });
  await replaying.routeFromHAR(path);
  const response = await (await replaying.newPage()).goto('/headers');
  expect(response?.status()).toBe(200);
  await replaying.close();
});
test('WebSockets', async ({ page }) => {
  await page.goto('/');
  const [socket] = await Promise.all([
    page.waitForEvent('websocket'),
    page.evaluate(() => void new WebSocket(`${location.origin.replace('http', 'ws')}/echo`)),
  ]);
  expect(socket.url()).toContain('/echo');
});
test('routeWebSocket', async ({ page }) => {
  await page.routeWebSocket('**/echo', (socket) => socket.onMessage((message) => socket.send(`routed ${message}`)));
  await page.goto('/');
  const answer = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/echo`);
        socket.onopen = () => socket.send('hello');
        socket.onmessage = ({ data }) => resolve(data);
      }),
  );
  expect(answer).toBe('routed hello');
});
test('service workers', async ({ context, page }) => {
  const [worker] = await Promise.all([
    context.waitForEvent('serviceworker'),
    page.goto('/').then(() => page.evaluate(() => void navigator.serviceWorker.register('/worker.js'))),
  ]);
  expect(worker.url()).toContain('/worker.js');
});
test('request fixture', async ({ request }) => {
  expect((await request.get('/headers')).status()).toBe(200);
});
test('context.request shares cookies', async ({ context, page }) => {
  await page.goto('/cookie');
  expect(await (await context.request.get('/headers')).json()).toMatchObject({ cookie: 'visited=yes' });
});
