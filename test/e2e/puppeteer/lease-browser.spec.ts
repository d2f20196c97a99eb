import { expect, test } from '../../support/e2e/fixtures.ts';
import { processesIn } from '../../support/e2e/process-tree.ts';
import { runCommand, startCommand } from '../../support/e2e/run-command.ts';

/** `leaseBrowser` in a script: of Puppeteer, and of Playwright as a library. */

const CLIENTS = {
  puppeteer: { goto: 'page.goto(process.env.SITE_URL)', contexts: 'browser.createBrowserContext()' },
  'playwright-library': { goto: 'page.goto(process.env.SITE_URL)', contexts: 'browser.newContext()' },
};

for (const [entry, client] of Object.entries(CLIENTS)) {
  test.describe(`poolwright/${entry}`, () => {
    const head = `import { leaseBrowser } from 'poolwright/${entry}';\n`;

    test('a browser is leased, used, given back; the next lease gets it again; the script ends by itself', async ({
      newConsumer,
      service,
      site,
    }) => {
      const consumer = await newConsumer();
      await consumer.write({
        'script.mjs': `${head}
          const seen = [];
          for (let use = 0; use < 2; use += 1) {
            const { browser, session, release } = await leaseBrowser();
            const page = await browser.newPage();
            await ${client.goto};
            const context = await ${client.contexts};
            await (await context.newPage()).goto('data:text/html,hello');
            seen.push({ title: await page.title(), ...session });
            await release();
            await release();
          }
          console.log('SEEN ' + JSON.stringify(seen));`,
      });
      const run = await runCommand(consumer, ['script.mjs'], { ...service.env, SITE_URL: site.url });
      expect(run.code, run.output).toBe(0);
      const seen = JSON.parse(/SEEN (.*)/.exec(run.output)?.[1] ?? '[]');
      expect(seen).toMatchObject([{ leaseId: null, reused: false }, { reused: true }]);
      expect(seen[1].sessionId).toBe(seen[0].sessionId);
      expect(seen[0].title).not.toBe('');
      expect(JSON.stringify(seen)).not.toContain('ws:');
      await expect.poll(() => service.running(), { timeout: 20_000 }).toEqual([]);
      await expect.poll(() => processesIn(consumer.folder), { timeout: 20_000 }).toEqual([]);
    });

    const ENDS: Record<string, string> = {
      'an error that nobody catches': `throw new Error('of the script');`,
      'SIGKILL of itself': `process.kill(process.pid, 'SIGKILL');`,
      'process.exit': 'process.exit(3);',
      'browser.close() and nothing else': 'await browser.close();',
    };
    for (const [name, end] of Object.entries(ENDS)) {
      test(`${name}: nothing is left`, async ({ newConsumer, service }) => {
        await service.client.createPool({ name: 'e2e', size: 1 });
        const consumer = await newConsumer();
        await consumer.write({
          'script.mjs': `${head} const { browser } = await leaseBrowser({ pool: 'e2e' }); await browser.newPage(); console.log('LEASED'); ${end}`,
        });
        const run = startCommand(consumer, ['script.mjs'], service.env);
        await run.exit;
        expect(run.output()).toContain('LEASED');
        await expect.poll(() => service.running(), { timeout: 20_000 }).toEqual([]);
        await expect.poll(() => processesIn(consumer.folder), { timeout: 20_000 }).toEqual([]);
      });
    }

    test('an `await using` block gives it back', async ({ newConsumer, service }) => {
      const consumer = await newConsumer();
      await consumer.write({
        // As TypeScript writes an \`await using\`: Node 20 does not know it.
        'script.mjs': `${head} const leased = await leaseBrowser(); await leased.browser.newPage(); await leased[Symbol.asyncDispose](); console.log('ENDED');`,
      });
      const run = await runCommand(consumer, ['script.mjs'], service.env);
      expect(run.code, run.output).toBe(0);
      await expect.poll(() => service.running(), { timeout: 20_000 }).toEqual([]);
    });

    test('bad input: one error each, nothing is held', async ({ newConsumer, service }) => {
      const consumer = await newConsumer();
      const lease = (options: string) =>
        `${head} await leaseBrowser(${options}).catch((error) => { console.log(error.code + ': ' + error.message); process.exitCode = 1; });`;
      const cases: [options: string, env: Record<string, string>, says: RegExp][] = [
        [`{ pol: 'x' }`, service.env, /^OPTIONS_INVALID: .*leaseBrowser\(options\)[\s\S]*pol\b[\s\S]*pool/m],
        ['{}', { CI: '1' }, /^ENVIRONMENT_MISSING: POOLWRIGHT_API_KEY is not set/m],
        [`{ pool: 'no-such' }`, service.env, /^OPTIONS_INVALID: `pool`: there is no pool "no-such"/m],
        ['{ needMs: -1 }', service.env, /^OPTIONS_INVALID: `needMs`/m],
        ['{}', { ...service.env, POOLWRIGHT_API_KEY: 'wrong' }, /^\w+: .*(401|key)/m],
      ];
      for (const [options, env, says] of cases) {
        await consumer.write({ 'script.mjs': lease(options) });
        const run = await runCommand(consumer, ['script.mjs'], env);
        expect(run.code, run.output).toBe(1);
        expect(run.output).toMatch(says);
      }
      expect(await service.allSessions()).toBe(0);
      await expect.poll(() => processesIn(consumer.folder), { timeout: 20_000 }).toEqual([]);
    });
  });
}
