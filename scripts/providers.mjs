import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { chromiumPath, startChromium, until } from './chromium-port.mjs';
import { nodeBinary } from './installed.mjs';
import { npm, pack } from './package/pack.mjs';
import { main } from './playwright.mjs';

/**
 * `node scripts/providers.mjs`: the recipes of examples/own-browsers in a temporary directory, with their packages
 * from the registry. It compiles each with the service's SDK, and runs the example's suite on Chromium and on the
 * Browserless server, all on loopback; writes bench/results/own-browsers.md. Not part of the tests. Browserless (SSPL)
 * is used as a server only, and is removed with the directory.
 */
const SDKS = {
  browserbase: '@browserbasehq/sdk',
  kernel: '@onkernel/sdk',
  steel: 'steel-sdk',
  hyperbrowser: '@hyperbrowser/sdk',
};
const BROWSERLESS = '@browserless.io/browserless';
const BROWSERLESS_NODE = 24;
/** How many browsers Browserless allows; it refuses more. */
const CONCURRENT = 2;
const TOKEN = 'token-of-providers';

const PAGE = join('bench', 'results', 'own-browsers.md');
const HEAD = `# Own browsers

Made with \`node scripts/providers.mjs\`: the packed package and the recipes of [examples/own-browsers](../../examples/own-browsers) in a
temporary directory. "types": the recipe compiles with the service's SDK; the service itself was not called. "suite": the example's four tests
in two workers, and afterwards no browser is left. "doctor": every check of \`npx poolwright doctor\` but missing functions.

| recipe | with | checked | result |
| --- | --- | --- | --- |
`;

await main(async () => {
  await ensureBuilt();
  const directory = mkdtempSync(join(tmpdir(), 'poolwright-providers-'));
  const cleanUps = [() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 })];
  const rows = [];
  try {
    const suite = prepareSuite(directory);
    rows.push(...typeRows(suite));
    const chromium = await chromiumPath();
    const version = spawnSync(chromium, ['--version'], { encoding: 'utf8' }).stdout.match(/\d[\d.]+/)?.[0];
    rows.push(...(await plainRows(suite, chromium, `Chromium ${version}`)));
    rows.push(...(await browserlessRows(suite, join(directory, 'server'), chromium, cleanUps)));
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  }
  const table = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  console.log(`\n${table}`);
  writeFileSync(PAGE, `${HEAD}${table}\n`);
  return rows.every(([, , , result]) => result === 'passed') ? 0 : 1;
});

/** The example as a user's copy, with the packed package and all SDKs. @returns its directory */
function prepareSuite(directory) {
  const suite = join(directory, 'suite');
  cpSync('examples/own-browsers', suite, { recursive: true });
  const { file } = pack(directory);
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const named = ['@playwright/test', 'jiti', '@types/node'].map((name) => `${name}@${devDependencies[name]}`);
  npm(
    ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', file, ...named, ...Object.values(SDKS)],
    suite,
  );
  const config = (options) => `import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';
export default defineConfig(
  withHostedBrowsers({ testDir: './tests', outputDir: './test-results', fullyParallel: true, workers: 2 }, ${options}),
);
`;
  writeFileSync(join(suite, 'address.config.ts'), config('{}'));
  writeFileSync(
    join(suite, 'fixed.config.ts'),
    config(`{ browsers: [{ url: process.env.FIXED_URL ?? '', max: ${CONCURRENT} }] }`),
  );
  writeFileSync(join(suite, 'browserless.config.ts'), config(`{ provider: './services/browserless.ts' }`));
  return suite;
}

/** Compiles each recipe with what it imports. */
function typeRows(suite) {
  const options = { module: 'NodeNext', target: 'ES2022', strict: true, noEmit: true, skipLibCheck: true };
  const compilerOptions = { ...options, allowImportingTsExtensions: true, types: ['node'] };
  writeFileSync(join(suite, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', 'services'] }));
  const tsc = resolve('node_modules/typescript-native/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.'], { cwd: suite, encoding: 'utf8' });
  if (stdout) console.log(stdout);
  return Object.entries(SDKS).map(([name, sdk]) => {
    const { version } = JSON.parse(readFileSync(join(suite, 'node_modules', sdk, 'package.json'), 'utf8'));
    const wrong = stdout
      .split('\n')
      .filter((line) => new RegExp(`^(services/(${name}|refused)\\.ts|error)`).test(line));
    return [`${name}.ts`, `\`${sdk}\` ${version}`, 'types', wrong.length > 0 ? `${wrong.length} errors` : 'passed'];
  });
}

/** One Chromium with a debugging port, and the provider that starts one for each lease. */
async function plainRows(suite, chromium, name) {
  const TMPDIR = join(dirname(suite), 'tmp');
  const { url, stop } = await startChromium(chromium, join(TMPDIR, 'port'));
  try {
    const address = { POOLWRIGHT_CDP_URL: url };
    const pages = async () => {
      const targets = await (await fetch(`${address.POOLWRIGHT_CDP_URL}/json/list`)).json();
      return targets.filter(({ type }) => type === 'page').length;
    };
    const before = await pages();
    const byPort = await runs(suite, 'address.config.ts', address, async () => (await pages()) - before);
    const env = { CHROMIUM_PATH: chromium, TMPDIR };
    const left = () => readdirSync(TMPDIR).filter((each) => each.startsWith('poolwright-browser-')).length;
    const byProvider = await runs(suite, 'playwright.config.ts', env, left);
    const doctor = doctorOf(suite, { ...env, POOLWRIGHT_PROVIDER: 'browsers.mjs' });
    return [
      ['an address', `${name}, debugging port`, 'suite', byPort],
      ['an address', `${name}, debugging port`, 'doctor', doctorOf(suite, address)],
      ['browsers.mjs', name, 'suite', byProvider],
      ['browsers.mjs', name, 'doctor', doctor],
    ];
  } finally {
    stop();
  }
}

/** The Browserless server: a browser for each connection. */
async function browserlessRows(suite, server, chromium, cleanUps) {
  mkdirSync(server);
  writeFileSync(join(server, 'package.json'), '{ "private": true }');
  npm(['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', BROWSERLESS], server);
  const { version } = JSON.parse(readFileSync(join(server, 'node_modules', BROWSERLESS, 'package.json'), 'utf8'));
  const url = await startBrowserless(server, chromium, cleanUps);
  const left = async () => (await (await fetch(`${url}/pressure?token=${TOKEN}`)).json()).pressure.running;
  const address = `${url.replace('http', 'ws')}/chromium?token=${TOKEN}&timeout=600000`;
  const env = { BROWSERLESS_URL: url, BROWSERLESS_TOKEN: TOKEN, FIXED_URL: address };
  const name = `Browserless ${version} on Node ${BROWSERLESS_NODE}`;
  return [
    ['an address', name, 'suite', await runs(suite, 'fixed.config.ts', env, left)],
    ['an address', name, 'doctor', doctorOf(suite, { POOLWRIGHT_CDP_URL: address })],
    ['browserless.ts', name, 'suite', await runs(suite, 'browserless.config.ts', env, left)],
    ['browserless.ts', name, 'doctor', doctorOf(suite, { ...env, POOLWRIGHT_PROVIDER: 'services/browserless.ts' })],
  ];
}

/** @returns its `http://` address */
async function startBrowserless(server, chromium, cleanUps) {
  // It takes Chromium from the place where its own Playwright would install it, and refuses routes of browsers that
  // are not installed.
  const browsers = { PLAYWRIGHT_BROWSERS_PATH: join(server, 'browsers') };
  const where = `process.stdout.write(require('playwright-core').chromium.executablePath())`;
  const asked = spawnSync(process.execPath, ['-e', where], {
    cwd: server,
    encoding: 'utf8',
    env: { ...process.env, ...browsers },
  });
  mkdirSync(dirname(asked.stdout), { recursive: true });
  symlinkSync(chromium, asked.stdout);
  writeFileSync(
    join(server, 'start.mjs'),
    `import { Browserless, BrowserlessRoutes } from '${BROWSERLESS}';
const server = new Browserless();
server.disableRoutes(...Object.values(BrowserlessRoutes).filter((name) => /^(Chrome|Edge|Firefox|WebKit)[A-Z]/.test(name)));
process.once('SIGTERM', () => server.stop().then(() => process.exit(0)));
await server.start();
`,
  );
  const port = await freePort();
  for (const each of ['data', 'downloads']) mkdirSync(join(server, each));
  const child = spawn(nodeBinary(BROWSERLESS_NODE), ['start.mjs'], {
    cwd: server,
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      ...browsers,
      HOST: '127.0.0.1',
      PORT: String(port),
      TOKEN,
      CONCURRENT: String(CONCURRENT),
      QUEUED: '0',
      DATA_DIR: join(server, 'data'),
      DOWNLOAD_DIR: join(server, 'downloads'),
      TMPDIR: join(server, 'data'),
      DEBUG: '-*',
    },
  });
  cleanUps.push(() => process.kill(-child.pid, 'SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/pressure?token=${TOKEN}`)).ok);
  return url;
}

/** Runs the suite. @param left how many browsers are left @returns the cell with the result */
async function runs(suite, config, env, left) {
  const report = join(suite, 'report.json');
  const args = ['node_modules/@playwright/test/cli.js', 'test', '-c', config, '--reporter=list,json'];
  console.log(`\n${config}`);
  spawnSync(process.execPath, args, {
    cwd: suite,
    stdio: 'inherit',
    env: { ...process.env, ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report },
  });
  const { expected, unexpected, flaky } = JSON.parse(readFileSync(report, 'utf8')).stats;
  if (expected !== 4 || unexpected + flaky > 0) return `${unexpected + flaky} of 4 failed`;
  // Browserless ends a browser after its connection.
  const count = await until(async () => ((await left()) === 0 ? '0' : '')).catch(left);
  return count === '0' ? 'passed' : `${count} browsers left`;
}

/** What `doctor` says must be well, but for functions that a provider need not have. */
function doctorOf(suite, env) {
  const args = [resolve('dist/cli.js'), 'doctor', '--json'];
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: suite,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  const bad = JSON.parse(stdout).filter(({ check, result }) => result !== 'ok' && !['usage', 'limit'].includes(check));
  for (const { check, says } of bad) console.log(`doctor: ${check}: ${says}`);
  return bad.length === 0 ? 'passed' : `failed: ${bad.map(({ check }) => check).join(', ')}`;
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
