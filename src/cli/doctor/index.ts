import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { release } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Command, Option } from 'commander';
import { childEnvironment } from '../../common/platform/processes.ts';
import { type Chromiums, findChromiums } from '../../emulator/index.ts';
import { HostedBrowsers } from '../../providers/hosted/hosted-browsers.ts';
import type { ServiceClient } from '../../service/index.ts';
import { integer } from '../flags.ts';
import { printJson, printLine } from '../print.ts';
import { withProgress } from '../terminal.ts';
import { ownBrowsersOfShell, withClient } from '../with-client.ts';
import { balance, chromium, emulator, type Finding, limit, pool, reach, session, variables } from './checks.ts';
import { ownBrowsers } from './own-browsers.ts';

interface Flags {
  workers: number;
  shards: number;
  session: boolean;
  json?: boolean;
}

type Say = (finding: Finding) => void;

const MARKS: Record<Finding['result'], string> = {
  ok: 'ok     ',
  warning: 'warning',
  failed: 'FAILED ',
  skipped: 'skipped',
};

/** `poolwright doctor`: everything that a run needs, one question after the other. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Check what a run needs: variables, service, key, balance, limits, pool, Chromium, a real session')
    .addOption(new Option('--workers <number>', 'parallel workers of your run').argParser(integer).default(1))
    .addOption(new Option('--shards <number>', 'shards of your run').argParser(integer).default(1))
    .option('--no-session', 'do not create a trial session (it costs a few seconds of a browser)')
    .option('--json', 'print JSON')
    .action((flags: Flags) => run(flags, program.version() ?? ''));
}

async function run(flags: Flags, version: string): Promise<void> {
  const findings: Finding[] = [];
  const say: Say = (finding) => {
    findings.push(finding);
    if (!flags.json)
      printLine(
        `${MARKS[finding.result]} ${finding.check}: ${finding.says}${finding.code ? ` [${finding.code}]` : ''}`,
      );
  };
  say(await versions(version));
  say(await chromium());
  const source = ownBrowsersOfShell();
  if (source) for (const finding of await ownBrowsers(source, (trial) => tried(flags, trial))) say(finding);
  else await examineService(flags, say);
  if (flags.json) printJson(findings);
  if (findings.some(({ result }) => result === 'failed')) process.exitCode = 1;
}

async function examineService(flags: Flags, say: Say): Promise<void> {
  const found = variables();
  if (passes(say, found)) {
    await withClient(async (client) => {
      if (passes(say, await reach(client))) await examine(client, flags, say);
    });
  } else if (found.result === 'skipped') say(await tried(flags, emulator));
}

/** Prints a finding and returns whether to go on. */
function passes(say: Say, finding: Finding): boolean {
  say(finding);
  return finding.result === 'ok' || finding.result === 'warning';
}

async function examine(client: ServiceClient, flags: Flags, say: Say): Promise<void> {
  say(await balance(client));
  say(await limit(client, flags.workers * flags.shards));
  say(await pool(client, flags.workers * flags.shards));
  say(await tried(flags, () => session(new HostedBrowsers(client))));
}

async function tried(flags: Flags, trial: () => Promise<Finding>): Promise<Finding> {
  if (!flags.session) return { check: 'session', result: 'skipped', says: '--no-session' };
  return await withProgress('trying one session', trial);
}

/** Bound on asking a browser for its version, in ms. */
const ASK_MS = 10_000;

/**
 * The installed versions, for bug reports: of libraries, those that tests in the working directory would load.
 * @param version of this package
 */
async function versions(version: string): Promise<Finding> {
  const found = {
    poolwright: version,
    Node: process.versions.node,
    Playwright: installed('@playwright/test', 'playwright', 'playwright-core'),
    Puppeteer: installed('puppeteer-core', 'puppeteer'),
    Chromium: await chromiumVersion(),
    platform: `${process.platform} ${process.arch} ${release()}`,
  };
  const says = Object.entries(found).map(([name, value]) => `${name} ${value ?? 'not installed'}`);
  return { check: 'versions', result: 'ok', says: says.join(', '), versions: found };
}

/** The version of the first of these packages that is installed; null: none is. */
function installed(...names: string[]): string | null {
  const require = createRequire(join(process.cwd(), 'package.json'));
  for (const name of names) {
    try {
      const manifest: { version: string } = require(`${name}/package.json`);
      return manifest.version;
    } catch {
      // The next one may be there.
    }
  }
  return null;
}

/** The version of the emulator's browser for plain sessions; on Windows, where it has no `--version`, its path. */
async function chromiumVersion(): Promise<string | null> {
  let found: Chromiums;
  try {
    found = await findChromiums();
  } catch {
    return null;
  }
  const path = (found.shell ?? found.full)?.path;
  if (path === undefined) return null;
  if (process.platform === 'win32') return path;
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: ASK_MS, env: childEnvironment() });
    return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim();
  } catch {
    return path;
  }
}
