import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'vite';
import { test as base, expect } from '../../support/e2e/fixtures.ts';

/** A real dev server with hot reload on this machine, and pages that cannot reach its loopback directly. */

interface App {
  url: string;
  /** The module that the page replaces without a reload. */
  module: string;
}

const test = base.extend<{ app: App }>({
  app: async ({}, use) => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'poolwright-vite-')));
    const module = join(root, 'src', 'text.js');
    await mkdir(join(root, 'src'));
    await writeFile(
      join(root, 'index.html'),
      '<!doctype html><h1></h1><script type="module" src="/src/main.js"></script>',
    );
    await writeFile(
      join(root, 'src', 'main.js'),
      `import { text } from './text.js';
      import './style.css';
      const show = (text) => { document.querySelector('h1').textContent = text; };
      show(text);
      import.meta.hot.accept('./text.js', (module) => show(module.text));`,
    );
    await writeFile(join(root, 'src', 'style.css'), 'h1 { color: rgb(1, 2, 3) }');
    await writeFile(module, `export const text = 'before';`);
    const server = await createServer({ root, configFile: false, logLevel: 'error', server: { host: '127.0.0.1' } });
    await server.listen();
    const url = server.resolvedUrls?.local[0];
    if (!url) throw new Error('Vite does not say where it is');
    await use({ url, module });
    await server.close();
    await rm(root, { recursive: true, force: true });
  },
});

test.use({ serviceOptions: { allowLoopback: false } });

test("Vite › replaces a module in a remote browser's page", { tag: ['@versions', '@slow'] }, async ({
  runSuite,
  app,
}) => {
  const run = await runSuite({
    tests: `
        import { writeFileSync } from 'node:fs';
        test('is replaced', async ({ page }) => {
          const connected = page.waitForEvent('console', (message) => message.text().includes('[vite] connected'));
          await page.goto('/');
          await expect(page.locator('h1')).toHaveText('before');
          await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
          await connected;
          await page.evaluate('window.sameDocument = true');
          writeFileSync(process.env.MODULE!, "export const text = 'after';");
          await expect(page.locator('h1')).toHaveText('after', { timeout: 20_000 });
          expect(await page.evaluate('window.sameDocument')).toBe(true);
        });`,
    env: { SITE_URL: app.url, MODULE: app.module },
  });
  expect(run.output).toContain('1 passed');
});
