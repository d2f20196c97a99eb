import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import type { WatchedRuns } from '../../broker/watch/view.ts';
import { type Clock, systemClock } from '../../common/clock.ts';
import { pause } from '../../common/pause.ts';
import { pageOpener } from '../../common/platform/page-opener.ts';
import { childEnvironment } from '../../common/platform/processes.ts';
import { notify, print } from '../../common/text/notify.ts';
import { inContinuousIntegration } from '../../options/environment.ts';
import { watchRuns } from '../../watch/runs/watch-runs.ts';
import { entryHtml } from '../../watch/server/page-html.ts';
import { startWatchServer, type WatchServer } from '../../watch/server/watch-server.ts';
import { portNumber } from '../flags.ts';
import { gone, npxParent, stopSignal } from '../stop.ts';

interface WatchFlags {
  port?: number;
  open: boolean;
  json?: boolean;
  untilClosed?: boolean;
}

const HELP = `
The page shows the runs of this user on this machine, with any test runner, started before or after this command. Pictures
are taken only while the page shows them. Each printed address opens the page once; Enter prints another one. Ctrl-C stops
the page, not the runs.`;

const FOREIGN = 'to watch a run of another version of poolwright, start `npx poolwright watch` in its directory';

/** `poolwright watch`: the browsers of this machine's runs, live. */
export function addWatchCommand(program: Command): void {
  program
    .command('watch')
    .description('Show the browsers of your runs live, in a page on this machine')
    .option('--port <number>', 'port of 127.0.0.1 to listen on (default: any free one)', portNumber)
    .option('--no-open', 'only print the address')
    .option('--json', 'print the address as one line of JSON, and open nothing')
    .addOption(new Option('--until-closed', 'for runs that open the page').hideHelp())
    .addHelpText('after', HELP)
    .action(watch);
}

async function watch({ port, open, json, untilClosed }: WatchFlags): Promise<void> {
  const runs = watchRuns(() => notify(FOREIGN));
  const server = await startWatchServer(runs, { port }).catch(async (error: unknown) => {
    await runs.close();
    throw error;
  });
  // Before the address is printed, because a reader of it may end this process.
  const npx = untilClosed ? undefined : await npxParent();
  const asked = Promise.race([
    stopSignal(),
    ...(npx === undefined ? [] : [gone(npx)]),
    ...(untilClosed ? [pagesClosed(server, runs)] : []),
  ]);
  const opened = open && !json ? openPage(server.address('browser')) : null;
  if (json) process.stdout.write(`${JSON.stringify({ url: server.address('json'), pid: process.pid })}\n`);
  else {
    await print(`${opened ? 'The page opens in your browser. It is also at' : 'Watch your runs at'}
  ${server.address('terminal')}
This address opens the page once; Enter prints another one. Ctrl-C stops the page, not the runs.`);
  }
  const onEnter = () => void print(`  ${server.address('terminal')}`);
  if (process.stdin.isTTY && !json) process.stdin.on('data', onEnter);
  await asked;
  process.stdin.off('data', onEnter).pause();
  opened?.remove();
  await server.close();
  await runs.close();
}

/** A file that leads to the page. */
interface OpenedPage {
  remove(): void;
}

/**
 * Opens the page in the user's browser; null where there is none to see. Everybody on this machine can read the
 * arguments of a process, so that the address is passed in a file, which only this user may read.
 */
function openPage(address: string): OpenedPage | null {
  const [command, ...args] = pageOpener(process.env, process.platform) ?? [];
  if (command === undefined || inContinuousIntegration(process.env)) return null;
  const directory = mkdtempSync(join(tmpdir(), 'poolwright-watch-'));
  const file = join(directory, 'open.html');
  writeFileSync(file, entryHtml(address), { mode: 0o600 });
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const child = spawn(command, [...args, file], {
    stdio: 'ignore',
    detached: true,
    windowsHide: true,
    env: childEnvironment(),
  });
  // The address is printed, too.
  child.on('error', remove);
  child.unref();
  return { remove };
}

const LOOK_MS = 500;
/** How long a page may take to open, in ms. */
const OPENS_WITHIN_MS = 60_000;
/** A page that is reloaded, or whose network stops for a moment, comes back within this time, in ms. */
const BACK_WITHIN_MS = 5_000;
/** How long the page of a run that is over is served, in ms. */
const AFTER_RUNS_MS = 3_600_000;

/** Resolves when all pages are closed, or when no run is left to show for an hour. */
export async function pagesClosed(
  server: Pick<WatchServer, 'pages'>,
  runs: Pick<WatchedRuns, 'all'>,
  clock: Clock = systemClock,
): Promise<void> {
  const never = new AbortController().signal;
  let wasOpen = false;
  let openAt = clock.now();
  let runAt = clock.now();
  for (;;) {
    const now = clock.now();
    if (server.pages > 0) [wasOpen, openAt] = [true, now];
    if (runs.all.some(({ view }) => view.endedAt === null)) runAt = now;
    if (now - openAt >= (wasOpen ? BACK_WITHIN_MS : OPENS_WITHIN_MS) || now - runAt >= AFTER_RUNS_MS) return;
    await pause(LOOK_MS, never, clock);
  }
}
