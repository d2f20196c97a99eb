import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium as playwright } from '@playwright/test';
import type { JSONReport, JSONReportSpec, JSONReportSuite } from '@playwright/test/reporter';
import { ServiceClient } from 'poolwright/client';
import { chooseChromium, findChromiums, startEmulator } from 'poolwright/emulator';
import { writePlaywrightPart } from './page.ts';
import { startRelay } from './relay.ts';
import { startSite } from './site.ts';

/**
 * `node scripts/compat.mjs`: one suite of Playwright Test's features, run on a local launch, on a plain
 * `connectOverCDP` and through poolwright: in new contexts, near, far away and through a relay, and in the browser's
 * own. Writes bench/results/compatibility.md. Fails where poolwright does worse than a plain `connectOverCDP`. The
 * browsers of the latter reach the site by themselves, poolwright's do not.
 */

const WAYS = ['local', 'cdp', 'isolated', 'ahead', 'persistent', 'relay'] as const;
type Way = (typeof WAYS)[number];
const VERDICTS = { expected: 'yes', unexpected: '**no**', flaky: '**no**', skipped: 'not run' } as const;
const HEADS: Record<Way, string> = {
  local: 'local launch',
  cdp: 'plain `connectOverCDP`',
  isolated: 'poolwright, isolated',
  ahead: 'isolated, sent ahead',
  persistent: 'poolwright, persistent',
  relay: 'isolated, relay (beta)',
};
/** Runs of one test with something on the command line or in the environment. */
const MODES: { title: string; args: string[]; env?: Record<string, string> }[] = [
  { title: '--headed', args: ['--headed', '--grep=locators, clicks'] },
  { title: 'PWDEBUG=console', args: ['--grep=locators, clicks'], env: { PWDEBUG: 'console' } },
  { title: 'reuseContext', args: ['--grep=locators, clicks|dialogs'], env: { PW_TEST_REUSE_CONTEXT: '1' } },
  { title: '--repeat-each, --workers=2', args: ['--repeat-each=2', '--workers=2', '--grep=locators, clicks'] },
];

/** What a run without a single test comes from: an error at the config, which says why. */
const REFUSED = 'refused, with its reason';
/** Playwright's own limit for browsers of another machine. */
const NO_PATH = '`saveAs`, no `path`';

const directory = await mkdtemp(join(tmpdir(), 'poolwright-compat-'));
const site = await startSite();
const near = await startEmulator({ allowLoopback: true, concurrentBrowsers: 4 });
// So far away that round trips are hidden: that must not be seen either.
const far = await startEmulator({ concurrentBrowsers: 4, rtt: 20 });
const client = new ServiceClient({ baseURL: near.baseURL, apiKey: near.apiKey });
// Leases of a relay run as another account.
await chmod(directory, 0o755);
const webPort = await freePort();
await provideFfmpeg();
const relay = await startRelay(join(directory, 'browsers'));
const { path: chromium } = chooseChromium(await findChromiums(), null);
const results = new Map<string, Partial<Record<Way, string>>>();
try {
  for (const way of WAYS) {
    console.log(`${HEADS[way]} …`);
    const verdicts = await runSuite(way);
    for (const { title, args, env } of MODES) {
      const statuses = [...(await runSuite(way, args, env)).values()];
      const other = statuses.find((status) => status !== VERDICTS.expected);
      verdicts.set(title, statuses.length === 0 ? REFUSED : (other ?? VERDICTS.expected));
    }
    verdicts.set('UI mode', await runUiMode(way));
    for (const [title, status] of verdicts) results.set(title, { ...results.get(title), [way]: status });
  }
} finally {
  await relay.stop();
  await client.close();
  await near.stop();
  await far.stop();
  await site.close();
  await rm(directory, { recursive: true, force: true });
}

if (results.size === 0) throw new Error('the suite did not run');
const rows = [...results].map(([title, status]) => [title, ...WAYS.map((way) => status[way] ?? 'not run')]);
const table = [
  `| feature | ${WAYS.map((way) => HEADS[way]).join(' | ')} |`,
  `| --- | ${WAYS.map(() => '---').join(' | ')} |`,
  ...rows.map((row) => `| ${row.join(' | ')} |`),
];
console.log(`\n${table.join('\n')}`);
const version = JSON.parse(await readFile('node_modules/@playwright/test/package.json', 'utf8')).version;
await writePlaywrightPart(
  `# Compatibility\n\nMade with \`node scripts/compat.mjs\`, with Playwright ${version} on the emulator's Chromium. The site is on loopback: poolwright's\nbrowsers reach it through \`exposeNetwork\`. "Persistent" is the browser's own context, cleared after each test. In the two columns before the last, browsers are 20 ms\naway, and poolwright [hides round trips](../../docs/distance.md). In the last one, a [relay](../../docs/relay.md) runs beside the browsers. Not tested, because they need a person at a display: \`--debug\` and \`page.pause()\`.\n\n${table.join('\n')}\n`,
);
const worse = rows.filter(
  ([, , cdp, ...ours]) => cdp === 'yes' && ours.some((each) => ![VERDICTS.expected, REFUSED, NO_PATH].includes(each)),
);
for (const [title] of worse) console.error(`worse than a plain connectOverCDP: ${title}`);
process.exitCode = worse.length > 0 ? 1 : 0;

/** Starts Playwright in one way. `ended` is to be called when it has. */
async function startSuite(way: Way, args: string[], env: Record<string, string>) {
  const emulator = way === 'ahead' || way === 'persistent' ? far : near;
  const session = way === 'cdp' ? await client.createSession({}) : null;
  await mkdir(join(directory, way), { recursive: true });
  const child = spawn(
    process.execPath,
    [
      'node_modules/@playwright/test/cli.js',
      'test',
      '--config=bench/compat/playwright.config.ts',
      '--update-snapshots=missing',
      ...args,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        COMPAT_WAY: way,
        COMPAT_OUTPUT: join(directory, way),
        COMPAT_STATE: join(directory, `${way}-state.json`),
        COMPAT_SITE: site.url,
        COMPAT_WEB_PORT: String(webPort),
        PLAYWRIGHT_BROWSERS_PATH: join(directory, 'browsers'),
        COMPAT_CHROMIUM: chromium,
        COMPAT_CDP_URL: session?.cdpUrl ?? '',
        POOLWRIGHT_BASE_URL: emulator.baseURL,
        POOLWRIGHT_API_KEY: emulator.apiKey,
        ...(way === 'relay' && relay.env),
        ...env,
      },
    },
  );
  child.stdout.resume();
  const ended = async () => {
    if (session) await client.stopSession(session.sessionId);
  };
  return { child, ended };
}

/** UI mode, served to a browser as it is on a machine without a display, with a person's clicks. */
async function runUiMode(way: Way): Promise<string> {
  const { child, ended } = await startSuite(way, ['--ui-host=127.0.0.1', '--ui-port=0'], {});
  const exit = once(child, 'exit');
  const person = await playwright.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  try {
    const page = await person.newPage();
    for await (const line of createInterface({ input: child.stdout })) {
      const [address] = /http:\/\/\S+/.exec(line) ?? [];
      if (!address) continue;
      await page.goto(address);
      break;
    }
    // Only the first project is shown, until one asks for another.
    await page.getByText('Projects:').click();
    await page.getByRole('checkbox', { name: 'suite' }).check();
    await page.getByPlaceholder(/^Filter \(/).fill('locators, clicks');
    await page.getByText('locators, clicks, keyboard').first().waitFor();
    await page.getByTitle(/^Run all/).click();
    await page
      .getByTestId('status-line')
      .getByText(/1\/1 .*1? ?passed|100%/)
      .first()
      .waitFor({ timeout: 60_000 });
    return (await page.locator('.codicon-error').count()) === 0 ? VERDICTS.expected : VERDICTS.unexpected;
  } catch (error) {
    console.error(error);
    return VERDICTS.unexpected;
  } finally {
    await person.close();
    child.kill('SIGINT');
    await exit;
    await ended();
  }
}

function verdict({ title, tests: [test] }: JSONReportSpec): string {
  const error = test?.results[0]?.error?.message ?? '';
  // Playwright's own download, which a machine may not have.
  if (error.includes('ffmpeg')) return 'needs ffmpeg, which this machine has not';
  if (error.includes('Path is not available when connecting remotely')) return NO_PATH;
  if (error.includes('XServer')) return 'needs a display';
  if (title.startsWith('retries') && test?.status === 'flaky') return 'yes';
  return VERDICTS[test?.status ?? 'skipped'];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Puts the system's ffmpeg, where there is one, where Playwright looks for its own. */
async function provideFfmpeg(): Promise<void> {
  const { browsers } = JSON.parse(await readFile('node_modules/playwright-core/browsers.json', 'utf8'));
  const { revision } = browsers.find(({ name }: { name: string }) => name === 'ffmpeg');
  const place = join(directory, 'browsers', `ffmpeg-${revision}`);
  await mkdir(place, { recursive: true });
  const found = (process.env.PATH ?? '').split(delimiter).map((each) => join(each, 'ffmpeg'));
  const system = found.find((path) => existsSync(path));
  if (system && process.platform === 'linux') await symlink(system, join(place, 'ffmpeg-linux'));
}

async function runSuite(way: Way, args: string[] = [], env: Record<string, string> = {}): Promise<Map<string, string>> {
  const report = join(directory, `${way}.json`);
  await rm(report, { force: true });
  const { child, ended } = await startSuite(way, args, { PLAYWRIGHT_JSON_OUTPUT_NAME: report, ...env });
  await once(child, 'exit');
  await ended();
  if (!existsSync(report)) return new Map();
  const parsed: JSONReport = JSON.parse(await readFile(report, 'utf8'));
  if (process.env.COMPAT_KEEP) await cp(report, join(process.env.COMPAT_KEEP, `${way}.json`));
  const specs = (suite: JSONReportSuite): JSONReportSpec[] => [...suite.specs, ...(suite.suites ?? []).flatMap(specs)];
  return new Map(parsed.suites.flatMap(specs).map((spec) => [spec.title, verdict(spec)]));
}
