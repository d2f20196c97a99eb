/** @jest-environment-options {"poolwright": {"isolate": "test"}} */
const { openSite } = require('./open-site.cjs');

let site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

let first;

test('knows its session', async () => {
  await page.goto(site.url);
  first = context;
  expect(hostedSession.sessionId).toMatch(/\w/);
  expect(await page.title()).not.toBe('');
});

test('has its own context', async () => {
  await page.goto(site.url);
  expect(context).not.toBe(first);
  expect(page.browserContext()).toBe(context);
});
