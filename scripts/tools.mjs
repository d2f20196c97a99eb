import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureChromeDriver } from './chromium.mjs';
import { chromiumPath, startChromium } from './chromium-port.mjs';
import { main } from './playwright.mjs';
import { setUp } from './set-up.mjs';
import { TOOLS } from './tools/list.mjs';
import { installTool, runTool, SESSION, ZONE } from './tools/run.mjs';

/**
 * `node scripts/tools.mjs`: tools that drive Chrome, from the registry, with `poolwright exec`; writes
 * bench/results/tools.md. `node scripts/tools.mjs lighthouse karma` runs those whose name contains one of these, and
 * keeps the other rows. Only the three of test/e2e/commands/tools.spec.ts are part of the tests. It installs what it
 * needs below node_modules/.cache.
 */
const PAGE = join('bench', 'results', 'tools.md');
const HEAD = `# Tools

Made with \`node scripts/tools.mjs\` on Node ${process.version}: each tool from the registry, ChromeDriver from Debian, with \`poolwright exec\` on the emulator's browsers, which
cannot reach this machine by themselves. "works": the command succeeds, each browser visits a site on loopback with the hosted browsers' time zone, the
record has as many browsers as the tool needs, each was given back, and no process is left.

| tool | version | browsers | result |
| --- | --- | --- | --- |
`;

await main(async () => {
  await setUp();
  await ensureChromeDriver();
  const asked = process.argv.slice(2).map((part) => part.toLowerCase());
  const chosen = TOOLS.filter(
    ({ name }) => asked.length === 0 || asked.some((part) => name.toLowerCase().includes(part)),
  );
  const { browsersFor, stop } = await startServices();
  const rows = new Map(asked.length > 0 ? savedRows() : []);
  let failed = 0;
  try {
    for (const tool of chosen) {
      const { env, flags } = browsersFor(tool.on);
      const { problems, output } = await runTool(tool, { cli: resolve('dist', 'cli.js'), env, flags });
      const result = problems.length > 0 ? `failed: ${problems.join('; ')}` : resultOf(tool);
      if (problems.length > 0) console.log(output);
      console.log(`${tool.name}: ${result}`);
      if (problems.length > 0) failed += 1;
      const { version } = installTool(tool);
      rows.set(tool.name, `| ${tool.name} | ${version} | ${tool.on ?? 'sessions'} | ${result} |`);
    }
  } finally {
    await stop();
  }
  const inOrder = TOOLS.flatMap(({ name }) => rows.get(name) ?? []);
  writeFileSync(PAGE, `${HEAD}${inOrder.join('\n')}\n`);
  return failed > 0 || chosen.length === 0 ? 1 : 0;
});

function resultOf({ but, cannot }) {
  if (cannot) return `cannot: ${cannot}`;
  return but ? `works, but ${but}` : 'works';
}

/** The rows of the last time, by the tools' names. */
function savedRows() {
  const rows = readFileSync(PAGE, 'utf8').match(/^\| .* \|$/gm) ?? [];
  return rows.map((row) => [row.split(' | ')[0].slice(2), row]);
}

/** An emulator with a pool, and a Chromium. @returns environment and flags of `poolwright exec` for each kind */
async function startServices() {
  const [{ startEmulator }, { ServiceClient }] = await Promise.all([
    import('../dist/emulator.js'),
    import('../dist/client.js'),
  ]);
  const directory = mkdtempSync(join(tmpdir(), 'poolwright-tools-'));
  const own = await startChromium(await chromiumPath(), join(directory, 'chromium'), { TZ: ZONE });
  const emulator = await startEmulator();
  const { baseURL, apiKey } = emulator;
  const client = new ServiceClient({ baseURL, apiKey });
  const { id: poolId } = await client.createPool({ name: 'tools', size: 1, browser: SESSION });
  await client.close();
  const user = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POOLWRIGHT_')));
  const service = { ...user, POOLWRIGHT_BASE_URL: baseURL, POOLWRIGHT_API_KEY: apiKey };
  const kinds = {
    sessions: { env: service, flags: ['--session', 'session.json'] },
    'a pool': { env: service, flags: ['--pool', poolId] },
    'own browsers': { env: { ...user, POOLWRIGHT_CDP_URL: own.url }, flags: [] },
  };
  return {
    browsersFor: (kind = 'sessions') => kinds[kind],
    stop: async () => {
      await emulator.stop();
      own.stop();
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
