import { expect, test } from '../../support/e2e/fixtures.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { runCommand, startCommand } from '../../support/e2e/run-command.ts';

/** `leaseBrowser` in a script, for Puppeteer and for Playwright as a library. */

const CLIENTS = {
  puppeteer: { goto: 'page.goto(process.env.SITE_URL)', contexts: 'browser.createBrowserContext()' },
  'playwright-library': { goto: 'page.goto(process.env.SITE_URL)', contexts: 'browser.newContext()' },
};

for (const [entry, client] of Object.entries(CLIENTS)) {
  test(`poolwright/${entry}: gives its browser back, gets it again with the next lease, and lets the script exit`, async ({
    newConsumer,
    service,
    site,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'script.mjs': `import { leaseBrowser } from 'poolwright/${entry}';
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
        // As TypeScript compiles an \`await using\`: Node 20 does not support it.
        const leased = await leaseBrowser();
        await leased.browser.newPage();
        await leased[Symbol.asyncDispose]();
        console.log('SEEN ' + JSON.stringify(seen));`,
    });
    const run = await runCommand(consumer, ['script.mjs'], { ...service.env, SITE_URL: site.url });
    expect(run.code, run.output).toBe(0);
    expect(run.output.match(/^poolwright: hosted browsers of 127\.0\.0\.1:\d+$/gm)).toHaveLength(1);
    const seen = JSON.parse(/SEEN (.*)/.exec(run.output)?.[1] ?? '[]');
    expect(seen).toMatchObject([{ leaseId: null, reused: false }, { reused: true }]);
    expect(seen[1].sessionId).toBe(seen[0].sessionId);
    expect(seen[0].title).not.toBe('');
    expect(JSON.stringify(seen)).not.toContain('ws:');
    await expect.poll(() => service.running()).toEqual([]);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });
}

/** A script with a browser of each client. */
const BOTH = `import { leaseBrowser as leasePuppeteer } from 'poolwright/puppeteer';
  import { leaseBrowser as leaseLibrary } from 'poolwright/playwright-library';
  const leased = [await leasePuppeteer({ pool: 'e2e' }), await leaseLibrary({ pool: 'e2e' })];
  for (const { browser } of leased) await browser.newPage();
  console.log('LEASED');`;

/** An error that nobody catches ends a process as `process.exit` does. */
const ENDS: Record<string, { end: string; tag?: string }> = {
  'an error that nobody catches': { end: `throw new Error('of the script');`, tag: '@slow' },
  'SIGKILL of itself': { end: `process.kill(process.pid, 'SIGKILL');` },
  'process.exit': { end: 'process.exit(3);' },
  'browser.close() and nothing else': { end: 'for (const { browser } of leased) await browser.close();' },
};
test.describe('a script that ends', () => {
  test.use({ browsers: 'stub' });

  for (const [name, { end, tag = [] }] of Object.entries(ENDS)) {
    test(`ends broker and browser after ${name}`, { tag }, async ({ newConsumer, service }) => {
      await service.client.createPool({ name: 'e2e', size: 2 });
      const consumer = await newConsumer();
      await consumer.write({ 'script.mjs': `${BOTH} ${end}` });
      const run = startCommand(consumer, ['script.mjs'], service.env);
      await run.exit;
      expect(run.output()).toContain('LEASED');
      await expect.poll(() => service.running()).toEqual([]);
      await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
    });
  }
});

test('warns when `release()` is forgotten, but not while the script waits for its page', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  // Two scripts of each client in parallel, because it takes a while until a browser counts as forgotten.
  const scripts = Object.keys(CLIENTS).map((entry) => {
    const head = `import { leaseBrowser } from 'poolwright/${entry}';
      const { browser, session } = await leaseBrowser();
      const page = await browser.newPage();`;
    return {
      [`forgets-${entry}.mjs`]: `${head} await page.goto('data:text/html,hello'); console.log('DONE ' + session.sessionId);`,
      [`waits-${entry}.mjs`]: `${head}
        await page.waitForSelector('#never', { timeout: 25_000 }).catch(() => console.log('WAITED'));
        await browser.close();`,
    };
  });
  await consumer.write(Object.assign({}, ...scripts));
  const start = (name: string) =>
    Object.keys(CLIENTS).map((entry) => startCommand(consumer, [`${name}-${entry}.mjs`], service.env));
  const [forgetting, waiting] = [start('forgets'), start('waits')];
  const note = /poolwright: session (\S+) is still leased.*release\(\)/;
  for (const { output, child } of forgetting) {
    await expect.poll(() => note.exec(output())?.[1]).toBeTruthy();
    expect(output()).toContain(`DONE ${note.exec(output())?.[1]}`);
    expect(child.exitCode).toBe(null); // it is still running: it might still wait for its page
  }
  for (const { output, exit } of waiting) {
    await exit;
    expect(output()).toContain('WAITED');
    expect(output()).not.toMatch(note);
  }
  for (const { output, exit, child } of forgetting) {
    expect(output().match(/is still leased/g)).toHaveLength(1);
    child.kill('SIGTERM');
    await exit;
  }
  await expect.poll(() => service.running()).toEqual([]);
});

test('reports one error for each invalid input, and leases nothing', async ({ newConsumer, service }) => {
  const both = Object.keys(CLIENTS);
  const cases: { options: string; env?: Record<string, string>; of?: string[]; says: RegExp }[] = [
    {
      options: `{ pol: 'x' }`,
      says: /^OPTIONS_INVALID of OptionsError: .*leaseBrowser\(options\)[\s\S]*pol\b[\s\S]*pool/,
    },
    {
      options: '{}',
      env: { CI: '1', POOLWRIGHT_BASE_URL: '', POOLWRIGHT_API_KEY: '' },
      says: /^ENVIRONMENT_MISSING of OptionsError: POOLWRIGHT_API_KEY is not set/,
    },
    { options: `{ pool: 'no-such' }`, says: /^OPTIONS_INVALID of OptionsError: `pool`: there is no pool "no-such"/ },
    { options: '{ needMs: -1 }', says: /^OPTIONS_INVALID of OptionsError: `needMs`/ },
    {
      options: '{}',
      env: { POOLWRIGHT_API_KEY: 'wrong' },
      says: /^SERVICE_UNAUTHORIZED of ServiceError: .*(401|key)/,
    },
    { options: `{ service: 'local' }`, says: /^OPTIONS_INVALID of OptionsError: `service: 'local'`.*'emulator'/ },
    { options: '{ evidence: true }', says: /^OPTIONS_INVALID of OptionsError: `evidence: true`.*no effect/ },
  ];
  const consumer = await newConsumer();
  const asked = cases.flatMap(({ of = both, says, ...one }) => of.map((entry) => ({ entry, says, ...one })));
  await consumer.write({
    'script.mjs': asked
      .map(
        ({ entry, options, env = {} }, n) => `
        Object.assign(process.env, { CI: '' }, ${JSON.stringify({ ...service.env, ...env })});
        await (await import('poolwright/${entry}')).leaseBrowser(${options}).then(
          () => console.log('CASE ' + JSON.stringify([${n}, 'no error'])),
          (error) => console.log('CASE ' + JSON.stringify([${n}, error.code + ' of ' + error.constructor.name + ': ' + error.message])));`,
      )
      .join('\n'),
  });
  const run = await runCommand(consumer, ['script.mjs'], service.env);
  expect(run.code, run.output).toBe(0);
  const said = [...run.output.matchAll(/^CASE (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
  expect(said).toEqual(asked.map(({ says }, n) => [n, expect.stringMatching(says)]));
  expect(await service.allSessions()).toBe(0);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});
