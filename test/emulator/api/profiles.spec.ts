import type { Page } from '@playwright/test';
import { ServiceClient } from '../../../src/service/index.ts';
import { expect, type TestEmulator, test } from '../../support/emulator/fixtures.ts';
import { localChromium } from '../../support/local-chromium.ts';

interface Memory {
  cookie: string;
  stored: string | null;
}
/** The state of an earlier visit that a page finds. */
const look = "({ cookie: document.cookie, stored: localStorage.getItem('who') })";
const memory = (page: Page) => page.evaluate<Memory>(look);

test.describe('a profile', () => {
  const visitTest = test.extend<{
    /** A session with these settings, its first page on the site, and a way to end it. */
    visit: (emulator: TestEmulator, body: object) => Promise<Visit>;
  }>({
    visit: async ({ connect, site }, use) => {
      await use(async ({ api }, body) => {
        const created = await api.create(body);
        expect(created).toMatchObject({ status: 200 });
        const { cdpUrl, sessionId } = created.body;
        const page = (await connect(cdpUrl)).contexts()[0]?.pages()[0] as Page;
        await page.goto(site.url);
        return { page, sessionId, stop: () => api.stop(sessionId) };
      });
    },
  });
  interface Visit {
    page: Page;
    sessionId: string;
    stop: () => Promise<unknown>;
  }
  const sign = (page: Page, who: string) =>
    page.evaluate(`document.cookie = 'who=${who}; max-age=3600'; localStorage.setItem('who', '${who}')`);

  visitTest('is saved when the session completes, and restored in the next', async ({ start, visit }) => {
    const emulator = await start({ allowLoopback: true });
    const { api } = emulator;
    const profile = { name: 'shopper', persist: true };
    expect((await api.get('/profiles')).body).toEqual({ profiles: [] });

    const first = await visit(emulator, { profile, country: 'DE' });
    await sign(first.page, 'ann');
    await first.page.evaluate("document.cookie = 'gone=with-the-browser'");
    expect((await api.get('/profiles')).body.profiles).toEqual([]); // not before it has completed
    await first.stop();
    const { profiles } = (await api.get('/profiles')).body;
    expect(profiles).toEqual([
      { profileId: expect.any(String), name: 'shopper', createdAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);

    // Cookies and storage come from the profile; language and country from the session.
    const second = await visit(emulator, { profile });
    expect(await memory(second.page)).toEqual({ cookie: 'who=ann', stored: 'ann' });
    expect(await second.page.evaluate('navigator.languages')).toEqual(['en-US', 'en']);
    expect(second.page.context().pages()).toHaveLength(1);
    await sign(second.page, 'bea');
    await second.stop();
    expect((await api.get('/profiles')).body.profiles).toEqual(profiles);

    // Without `persist`, the profile is loaded but not changed.
    const third = await visit(emulator, { profile: { name: 'shopper' } });
    expect(await memory(third.page)).toEqual({ cookie: 'who=bea', stored: 'bea' });
    await sign(third.page, 'cid');
    await third.stop();
    const fourth = await visit(emulator, { profile: { name: 'shopper' } });
    expect(await memory(fourth.page)).toEqual({ cookie: 'who=bea', stored: 'bea' });
  });

  visitTest('is saved when a client closes the browser, and not when it crashes', async ({ start, visit }) => {
    const emulator = await start({ allowLoopback: true, chromium: await localChromium() });
    const { api } = emulator;
    const profile = { name: 'p', persist: true };
    const closed = await visit(emulator, { profile });
    await sign(closed.page, 'ann');
    const cdp = await closed.page.context().browser()?.newBrowserCDPSession();
    await cdp?.send('Browser.close').catch(() => undefined);
    await expect.poll(async () => (await api.get('/profiles')).body.profiles.length).toBe(1);

    const crashed = await visit(emulator, { profile });
    await sign(crashed.page, 'bea');
    await api.call('POST', `/__emulator/sessions/${crashed.sessionId}/crash`);
    await expect.poll(async () => (await api.session(crashed.sessionId)).body.status).toBe('error');
    await crashed.stop(); // resolves when its clean-up is complete
    const after = await visit(emulator, { profile });
    expect((await memory(after.page)).stored).toBe('ann');
  });

  visitTest('is available to a session created right after the previous one ends', async ({ start, visit }) => {
    const emulator = await start({ allowLoopback: true, chromium: await localChromium() });
    const { api } = emulator;
    const profile = { name: 'p', persist: true };
    const first = await visit(emulator, { profile });
    await sign(first.page, 'ann');
    const stopping = first.stop(); // its status changes at once; the browser closes and is saved later
    await expect.poll(async () => (await api.session(first.sessionId)).body.status).toBe('completed');
    const next = await visit(emulator, { profile });
    expect(await memory(next.page)).toEqual({ cookie: 'who=ann', stored: 'ann' });
    await stopping;
    // A frozen browser is killed after a time limit, so nothing waits for it forever.
    await api.call('POST', `/__emulator/sessions/${next.sessionId}/stall`);
    await next.stop();
    const last = await visit(emulator, { profile: { name: 'p' } });
    expect((await memory(last.page)).stored).toBe('ann');
  });

  visitTest('is not saved without `persist`, and is gone after a delete', async ({ start, visit }) => {
    const emulator = await start({ allowLoopback: true, chromium: await localChromium() });
    const client = new ServiceClient({ baseURL: emulator.baseURL, apiKey: emulator.apiKey });
    const fleeting = await visit(emulator, { profile: { name: 'fleeting' } });
    await sign(fleeting.page, 'ann');
    await fleeting.stop();
    expect(await client.listProfiles()).toEqual([]);

    const profile = { name: 'kept & found', persist: true };
    const saved = await visit(emulator, { profile });
    await sign(saved.page, 'ann');
    await saved.stop();
    expect(await client.listProfiles()).toMatchObject([{ name: profile.name }]);
    const reader = await visit(emulator, { profile });
    await client.deleteProfile(profile.name);
    await client.deleteProfile(profile.name); // never a 404
    expect(await client.listProfiles()).toEqual([]);
    // The session that uses it continues with its copy, and does not save it again.
    expect((await memory(reader.page)).stored).toBe('ann');
    await reader.stop();
    expect(await client.listProfiles()).toEqual([]);
    const fresh = await visit(emulator, { profile });
    expect((await memory(fresh.page)).stored).toBeNull();
    await fresh.stop();
    expect(await client.listProfiles()).toHaveLength(1);
    await client.close();
  });

  visitTest(
    'has a separate copy in each of two simultaneous sessions; the last to complete is saved',
    async ({ start, visit }) => {
      const emulator = await start({ allowLoopback: true, chromium: await localChromium() });
      const profile = { name: 'p', persist: true };
      const [one, other] = [await visit(emulator, { profile }), await visit(emulator, { profile })];
      await sign(one.page, 'ann');
      expect((await memory(other.page)).stored).toBeNull();
      await sign(other.page, 'bea');
      await other.stop();
      await one.stop();
      const next = await visit(emulator, { profile });
      expect(await memory(next.page)).toEqual({ cookie: 'who=ann', stored: 'ann' });
      expect((await emulator.api.get('/profiles')).body.profiles).toHaveLength(1);
    },
  );

  visitTest(
    'is saved by a leased browser of a pool, but not by one that was never leased',
    async ({ start, visit, connect, site }) => {
      const emulator = await start({ allowLoopback: true, chromium: await localChromium() });
      const { api } = emulator;
      const first = await visit(emulator, { profile: { name: 'p', persist: true } });
      await sign(first.page, 'ann');
      await first.stop();

      const browser = { profile: { name: 'p', persist: true } };
      const { body: pool } = await api.post('/pools', { name: 'warm', size: 1, browser });
      expect(pool.browser).toMatchObject(browser);
      const { body: lease } = await api.post(`/pools/${pool.id}/acquire`, { waitMs: 30_000 });
      const page = (await connect(lease.cdpUrl)).contexts()[0]?.pages()[0] as Page;
      await page.goto(site.url);
      expect((await memory(page)).stored).toBe('ann');
      await sign(page, 'bea');
      await api.post(`/pools/${pool.id}/release`, { leaseId: lease.leaseId });
      // The replacement was warmed before that: its end must not restore the old state.
      await expect.poll(async () => (await api.get(`/pools/${pool.id}`)).body.ready).toBe(1);
      await api.delete(`/pools/${pool.id}?force=true`);
      const after = await visit(emulator, { profile: { name: 'p' } });
      expect((await memory(after.page)).stored).toBe('bea');
    },
  );

  visitTest(
    'belongs to its workspace, and outlives the emulator only in a data directory',
    async ({ start, visit, directory }) => {
      const workspaces = [
        { apiKey: 'key-a', name: 'a' },
        { apiKey: 'key-b', name: '../b' },
      ];
      const data = `${directory}/data`;
      const chromium = await localChromium();
      const profile = { name: 'shared name', persist: true };
      const before = await start({ allowLoopback: true, chromium, data, workspaces });
      const { page } = await visit(before, { profile });
      await sign(page, 'ann');
      await before.stop(); // its sessions complete
      const after = await start({ allowLoopback: true, chromium, data, workspaces });
      expect((await after.api.get('/profiles')).body.profiles).toMatchObject([{ name: 'shared name' }]);
      const again = await visit(after, { profile });
      expect(await memory(again.page)).toEqual({ cookie: 'who=ann', stored: 'ann' });
      const other = await after.api.call('GET', '/v1/browser/profiles');
      expect(other.body.profiles).toHaveLength(1);
      const { baseURL } = after;
      const asB = new ServiceClient({ baseURL, apiKey: 'key-b' });
      expect(await asB.listProfiles()).toEqual([]);
      await asB.deleteProfile('shared name');
      expect((await after.api.get('/profiles')).body.profiles).toHaveLength(1);
      await asB.close();
    },
  );
});
