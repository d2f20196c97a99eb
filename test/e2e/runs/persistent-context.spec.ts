import { writeFile } from 'node:fs/promises';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments } from '../../support/e2e/run-playwright.ts';
import { probeExtension } from '../../support/zip.ts';

test.use({ browsers: 'full' });

/** The browser's default context: the one with its profile and its extensions. */

const SIGNATURE = 'document.documentElement.dataset.probe';

test(
  'persistent context › has a saved profile and an extension',
  { tag: ['@versions', '@slow'] },
  async ({ runSuite, service }, testInfo) => {
    const archive = testInfo.outputPath('probe.zip');
    await writeFile(archive, await probeExtension());
    const { extensionId } = await service.client.uploadExtension(archive);
    const pool = await service.client.createPool({
      name: 'extended',
      size: 1,
      browser: { extensionIds: [extensionId] },
    });
    const run = await runSuite({
      config: `projects: [
        { name: 'log in', testMatch: 'login.spec.ts', use: { hosted: { session: { profile: { name: 'ada', persist: true } } } } },
        { name: 'ada', testMatch: 'profile.spec.ts', dependencies: ['log in'],
          use: { hosted: { session: { profile: { name: 'ada' } } }, screenshot: 'on', trace: 'on' } },
        { name: 'cleared', testMatch: 'cleared.spec.ts', dependencies: ['ada'],
          use: { hosted: { session: { profile: { name: 'ada' } }, context: { mode: 'persistent', clear: true } } } },
        { name: 'isolated', testMatch: 'nobody.spec.ts', dependencies: ['cleared'],
          use: { hosted: { session: { profile: { name: 'ada' }, extensionIds: ['${extensionId}'] }, context: 'isolated' } } },
        { name: 'pool', testMatch: 'extension.spec.ts', dependencies: ['isolated'], use: { hosted: { pool: '${pool.id}' } } },
      ],`,
      tests: {
        login: `
      test('logs in', async ({ page, context }) => {
        await page.goto('/');
        await context.addCookies([{ name: 'user', value: 'ada', url: process.env.SITE_URL!, expires: Date.now() / 1000 + 3600 }]);
        await page.evaluate('localStorage.setItem("theme", "dark")');
      });`,
        profile: `
      const known = async (page) => {
        await page.goto('/');
        return await page.evaluate('[document.cookie, localStorage.getItem("theme")]');
      };
      test('is logged in', async ({ page, context }) => {
        expect(context.pages()).toEqual([page]);
        expect(await known(page)).toEqual([expect.stringContaining('user=ada'), 'dark']);
        await page.evaluate('localStorage.setItem("theme", "light")');
        const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate('void window.open("/popup")')]);
        await popup.waitForLoadState();
      });
      test('sees what the test before left, and none of its pages', async ({ page, context, browser }) => {
        expect(context.pages()).toEqual([page]);
        expect(browser.contexts()).toEqual([context]);
        expect(await known(page)).toEqual([expect.stringContaining('user=ada'), 'light']);
      });
      test('a second context is a new one', async ({ page, browser }) => {
        expect((await known(page))[0]).toContain('user=ada');
        const other = await browser.newContext({ baseURL: process.env.SITE_URL });
        expect((await known(await other.newPage()))[0]).not.toContain('user=ada');
        await other.close();
      });`,
        cleared: `
      for (const [n, cookies] of [[1, ['user', 'visited']], [2, ['visited']]] as const) test('test ' + n, async ({ page, context }) => {
        await page.goto('/');
        expect((await context.cookies()).map(({ name }) => name).sort()).toEqual(cookies);
      });`,
        nobody: `
      test('nobody is logged in, nothing is extended', async ({ page, context }) => {
        await page.goto('/');
        expect(await page.evaluate('document.cookie')).not.toContain('user=ada');
        expect(await page.evaluate('${SIGNATURE}')).toBeUndefined();
      });`,
        extension: `
      for (const n of [1, 2]) test('the extension is there ' + n, async ({ page, context }) => {
        await page.goto('/');
        await expect.poll(() => page.evaluate('${SIGNATURE}')).toEqual(expect.any(String));
      });`,
      },
      args: ['--workers=1'],
    });
    const tests = await run.tests();
    expect(tests).toHaveLength(9);
    for (const { results, title } of tests) expect(hostedAttachments(results[0]), title).toHaveLength(1);
    // Traces and screenshots as usual: one screenshot for each page of the test.
    const shots = (title: string) =>
      tests.find((each) => each.title === title)?.results[0]?.attachments.map(({ name }) => name) ?? [];
    expect(shots('is logged in').filter((name) => name === 'screenshot')).toHaveLength(2);
    expect(shots('is logged in')).toContain('trace');
    expect(run.output.match(/this second one is a new context without them/g)).toHaveLength(1);
    expect(run.output).toContain('project "ada": only one context can have');
    // One session for each project that has no pool: no browser counts as broken.
    expect(run.output).not.toContain('ends here, without another test');
    expect(await service.allSessions()).toBe(4);
  },
);
