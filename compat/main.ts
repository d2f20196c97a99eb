import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JSONReport, JSONReportSpec, JSONReportSuite } from '@playwright/test/reporter';
import { ServiceClient } from 'poolwright/client';
import { findChromium, startEmulator } from 'poolwright/emulator';
import { startSite } from './site.ts';

/**
 * `npm run compat`: one suite of Playwright Test's features, run on a local launch, on a plain `connectOverCDP` and
 * through poolwright; writes docs/compatibility.md. Fails where poolwright does worse than a plain `connectOverCDP`.
 */

const WAYS = ['local', 'cdp', 'poolwright'] as const;
type Way = (typeof WAYS)[number];
const VERDICTS = { expected: 'yes', unexpected: '**no**', flaky: '**no**', skipped: 'not run' } as const;
const HEADS: Record<Way, string> = { local: 'local launch', cdp: 'plain `connectOverCDP`', poolwright: 'poolwright' };

const folder = await mkdtemp(join(tmpdir(), 'poolwright-compat-'));
const site = await startSite();
const emulator = await startEmulator({ allowLoopback: true, concurrentBrowsers: 4 });
const client = new ServiceClient({ baseURL: emulator.baseURL, apiKey: emulator.apiKey });
const { path: chromium } = await findChromium();
const results = new Map<string, Partial<Record<Way, string>>>();
try {
  for (const way of WAYS) {
    console.log(`${HEADS[way]} …`);
    for (const [title, status] of await runSuite(way)) results.set(title, { ...results.get(title), [way]: status });
  }
} finally {
  await client.close();
  await emulator.stop();
  await site.close();
  await rm(folder, { recursive: true, force: true });
}

if (results.size === 0) throw new Error('the suite did not run');
const rows = [...results].map(([title, status]) => [title, ...WAYS.map((way) => status[way] ?? 'not run')]);
const table = [
  `| feature | ${WAYS.map((way) => HEADS[way]).join(' | ')} |`,
  '| --- | --- | --- | --- |',
  ...rows.map((row) => `| ${row.join(' | ')} |`),
];
console.log(`\n${table.join('\n')}`);
const version = JSON.parse(await readFile('node_modules/@playwright/test/package.json', 'utf8')).version;
await writeFile(
  'docs/compatibility.md',
  `# Compatibility\n\nMade by \`npm run compat\` with Playwright ${version}, in isolated contexts, on the\nemulator's Chromium. Not in it, because they need a person: --debug, page.pause(), UI mode, --headed; and component\ntests and reuseContext, which start a browser of their own.\n\n${table.join('\n')}\n`,
);
const worse = rows.filter(([, , cdp, ours]) => cdp === 'yes' && ours !== 'yes');
for (const [title] of worse) console.error(`worse than a plain connectOverCDP: ${title}`);
process.exitCode = worse.length > 0 ? 1 : 0;

function verdict({ tests: [test] }: JSONReportSpec): string {
  const error = test?.results[0]?.error?.message ?? '';
  // Playwright's own download, which a machine may not have.
  if (error.includes('ffmpeg')) return 'needs ffmpeg, which this machine has not';
  return VERDICTS[test?.status ?? 'skipped'];
}

async function runSuite(way: Way): Promise<Map<string, string>> {
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
        COMPAT_CHROMIUM: chromium,
        COMPAT_CDP_URL: session?.cdpUrl ?? '',
        POOLWRIGHT_BASE_URL: emulator.baseURL,
        POOLWRIGHT_API_KEY: emulator.apiKey,
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
