import { chromium } from '@playwright/test';
import puppeteer from 'puppeteer-core';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { requires } from '../../support/requires.ts';
import { curl } from './curl.ts';

/** Third-party clients, whose expectations of a hosted browser are not ours. */

test('Puppeteer drives a session, leaves it, and comes back', async ({ start, site }) => {
  const { api } = await start({ allowLoopback: true });
  const { sessionId, cdpUrl } = (await api.create()).body;
  const browser = await puppeteer.connect({ browserWSEndpoint: cdpUrl });
  const page = await browser.newPage();
  const answer = await page.goto(site.url);
  expect(answer?.status()).toBe(200);
  expect(await page.title()).toBe('site');
  expect(await page.$eval('p', (paragraph) => paragraph.textContent)).toBe('hello');
  expect((await page.screenshot()).subarray(1, 4)).toEqual(new Uint8Array(Buffer.from('PNG')));
  const context = await browser.createBrowserContext();
  expect(await (await context.newPage()).evaluate(() => 6 * 7)).toBe(42);
  await context.close();
  await page.close();
  await browser.disconnect();
  expect((await api.session(sessionId)).body.status).toBe('active');

  const again = await puppeteer.connect({ browserWSEndpoint: cdpUrl });
  const gone = new Promise((resolve) => again.once('disconnected', resolve));
  await again.close(); // Puppeteer's `close` ends the browser, unlike `disconnect`
  await gone;
  await expect.poll(async () => (await api.session(sessionId)).body.status).toBe('completed');
  // Puppeteer throws the socket's event, which is not an Error.
  const refusal = { message: expect.stringContaining('410') };
  await expect(puppeteer.connect({ browserWSEndpoint: cdpUrl })).rejects.toMatchObject(refusal);
});

test('Playwright drives a session by its address', async ({ start, site }) => {
  const { api } = await start({ allowLoopback: true });
  const { sessionId, cdpUrl } = (await api.create()).body;
  const browser = await chromium.connectOverCDP(cdpUrl);
  const page = await browser.newPage();
  await page.goto(site.url);
  await expect(page).toHaveTitle('site');
  await page.close();
  await browser.close();
  expect((await api.session(sessionId)).body.status).toBe('active');
  await api.stop(sessionId);
  await expect(chromium.connectOverCDP(cdpUrl)).rejects.toThrow('410');
});

test('curl creates, reads and stops a session', async ({ start }) => {
  requires('curl');
  const { baseURL, apiKey } = await start();
  const json = ['--header', 'Content-Type: application/json'];
  const session = `${baseURL}/v1/browser/session`;
  const type = expect.stringMatching(/^application\/json\b/);

  const created = await curl(session, apiKey, ...json, '--data', '{"note":"from curl","duration":60}');
  expect(created).toMatchObject({ status: 200, contentType: type });
  expect(created.body).toMatchObject({ status: 'active', note: 'from curl', stoppedAt: null });
  const { sessionId, cdpUrl } = created.body;
  const byId = `${session}?sessionId=${sessionId}`;
  expect(await curl(byId, apiKey)).toMatchObject({ status: 200, body: { sessionId, cdpUrl, note: 'from curl' } });
  const active = await curl(`${baseURL}/v1/browser/sessions?status=active`, apiKey);
  expect(active).toMatchObject({ status: 200, body: { sessions: [{ sessionId }] } });

  const noted = await curl(byId, apiKey, ...json, '--request', 'PATCH', '--data', '{"note":"anders"}');
  expect(noted).toMatchObject({ status: 200, body: { sessionId, note: 'anders' } });

  const stopped = { status: 200, contentType: type, body: { success: true } };
  expect(await curl(byId, apiKey, '--request', 'DELETE')).toEqual(stopped);
  expect(await curl(byId, apiKey, '--request', 'DELETE')).toEqual(stopped);
  expect((await curl(byId, apiKey)).body).toMatchObject({
    status: 'completed',
    cdpUrl: null,
    stoppedAt: expect.any(String),
  });

  const refused = await curl(session, apiKey, ...json, '--data', '{"duration":59}');
  expect(refused).toEqual({ status: 400, contentType: type, body: { error: expect.stringMatching(/^duration: /) } });
  const unknown = await curl(`${session}?sessionId=nobody`, apiKey);
  expect(unknown).toEqual({ status: 404, contentType: type, body: { error: 'Session not found' } });
  const form = await curl(session, apiKey, '--data', 'duration=60'); // curl's own content type
  expect(form).toEqual({ status: 400, contentType: type, body: { error: expect.stringContaining('Content-Type') } });
  const missing = 'Unauthorized: Missing or invalid Authorization header';
  expect(await curl(byId)).toEqual({ status: 401, contentType: type, body: { error: missing } });
});
