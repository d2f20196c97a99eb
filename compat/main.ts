import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { JSONReport, JSONReportSpec, JSONReportSuite } from '@playwright/test/reporter';
import { ServiceClient } from 'poolwright/client';
import { findChromium, startEmulator } from 'poolwright/emulator';
import { startSite } from './site.ts';

/**
 * `npm run compat`: one suite of Playwright Test's features, run on a local launch, on a plain `connectOverCDP` and
 * through poolwright, in new contexts and in the browser's own; writes docs/compatibility.md. Fails where poolwright does
 * worse than a plain `connectOverCDP`. The browsers of the latter reach the site by themselves, poolwright's do not.
 */

const WAYS = ['local', 'cdp', 'isolated', 'persistent'] as const;
type Way = (typeof WAYS)[number];
const VERDICTS = { expected: 'yes', unexpected: '**no**', flaky: '**no**', skipped: 'not run' } as const;
const HEADS: Record<Way, string> = {
  local: 'local launch',
  cdp: 'plain `connectOverCDP`',
  isolated: 'poolwright, isolated',
  persistent: 'poolwright, persistent',
};
/** Runs of one test with something on the command line or in the environment. */
const MODES: { title: string; args: string[]; env?: Record<string, string> }[] = [
  { title: '--headed', args: ['--headed', '--grep=locators, clicks'] },
  { title: 'PWDEBUG=console', args: ['--grep=locators, clicks'], env: { PWDEBUG: 'console' } },
  { title: '--repeat-each, --workers=2', args: ['--repeat-each=2', '--workers=2', '--grep=locators, clicks'] },
];

const folder = await mkdtemp(join(tmpdir(), 'poolwright-compat-'));
const site = await startSite();
const near = await startEmulator({ allowLoopback: true, concurrentBrowsers: 4 });
const far = await startEmulator({ concurrentBrowsers: 4 });
const client = new ServiceClient({ baseURL: near.baseURL, apiKey: near.apiKey });
const webPort = await freePort();
await provideFfmpeg();
const { path: chromium } = await findChromium();
const results = new Map<string, Partial<Record<Way, string>>>();
try {
  for (const way of WAYS) {
    console.log(`${HEADS[way]} …`);
    const verdicts = await runSuite(way);
    for (const { title, args, env } of MODES) {
      const [[, status] = ['', 'not run']] = await runSuite(way, args, env);
      verdicts.set(title, status);
    }
    for (const [title, status] of verdicts) results.set(title, { ...results.get(title), [way]: status });
  }
} finally {
  await client.close();
  await near.stop();
  await far.stop();
  await site.close();
  await rm(folder, { recursive: true, force: true });
}

if (results.size === 0) throw new Error('the suite did not run');
const rows = [...results].map(([title, status]) => [title, ...WAYS.map((way) => status[way] ?? 'not run')]);
const table = [
  `| feature | ${WAYS.map((way) => HEADS[way]).join(' | ')} |`,
  '| --- | --- | --- | --- | --- |',
  ...rows.map((row) => `| ${row.join(' | ')} |`),
];
console.log(`\n${table.join('\n')}`);
const version = JSON.parse(await readFile('node_modules/@playwright/test/package.json', 'utf8')).version;
await writeFile(
  'docs/compatibility.md',
  `# Compatibility\n\nMade by \`npm run compat\` with Playwright ${version} on the emulator's Chromium. The site is on loopback: poolwright's\nbrowsers reach it through \`exposeNetwork\`. "Persistent" is the browser's own context, cleared after each test. Not in\nit, because they need a person: --debug, page.pause(), UI mode; and component tests and reuseContext.\n\n${table.join('\n')}\n`,
);
const worse = rows.filter(([, , cdp, ...ours]) => cdp === 'yes' && ours.some((each) => each !== 'yes'));
for (const [title] of worse) console.error(`worse than a plain connectOverCDP: ${title}`);
process.exitCode = worse.length > 0 ? 1 : 0;

function verdict({ title, tests: [test] }: JSONReportSpec): string {
  const error = test?.results[0]?.error?.message ?? '';
  // Playwright's own download, which a machine may not have.
  if (error.includes('ffmpeg')) return 'needs ffmpeg, which this machine has not';
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
  const place = join(folder, 'browsers', `ffmpeg-${revision}`);
  await mkdir(place, { recursive: true });
  const found = (process.env.PATH ?? '').split(delimiter).map((each) => join(each, 'ffmpeg'));
  const system = found.find((path) => existsSync(path));
  if (system && process.platform === 'linux') await symlink(system, join(place, 'ffmpeg-linux'));
}

async function runSuite(way: Way, args: string[] = [], env: Record<string, string> = {}): Promise<Map<string, string>> {
  const emulator = way === 'cdp' ? near : far;
  const session = way === 'cdp' ? await client.createSession({}) : null;
  const report = join(folder, `${way}.json`);
  await mkdir(join(folder, way), { recursive: true });
  const child = spawn(
    process.execPath,
    [
      'node_modules/@playwright/test/cli.js',
      'test',
      '--config=compat/playwright.config.ts',
      '--update-snapshots=missing',
      ...args,
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        PLAYWRIGHT_JSON_OUTPUT_NAME: report,
        COMPAT_WAY: way,
        COMPAT_OUTPUT: join(folder, way),
        COMPAT_STATE: join(folder, `${way}-state.json`),
        COMPAT_SITE: site.url,
        COMPAT_WEB_PORT: String(webPort),
        PLAYWRIGHT_BROWSERS_PATH: join(folder, 'browsers'),
        COMPAT_CHROMIUM: chromium,
        COMPAT_CDP_URL: session?.cdpUrl ?? '',
        POOLWRIGHT_BASE_URL: emulator.baseURL,
        POOLWRIGHT_API_KEY: emulator.apiKey,
        ...env,
      },
    },
  );
  await once(child, 'exit');
  if (session) await client.stopSession(session.sessionId);
  const parsed: JSONReport = JSON.parse(await readFile(report, 'utf8'));
  if (process.env.COMPAT_KEEP) await cp(report, join(process.env.COMPAT_KEEP, `${way}.json`));
  const specs = (suite: JSONReportSuite): JSONReportSpec[] => [...suite.specs, ...(suite.suites ?? []).flatMap(specs)];
  return new Map(parsed.suites.flatMap(specs).map((spec) => [spec.title, verdict(spec)]));
}
