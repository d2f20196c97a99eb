import { type Command, Option } from 'commander';
import { notify, print } from '../../common/text/notify.ts';
import { watchRuns } from '../../watch/runs/watch-runs.ts';
import { openPage } from '../../watch/server/open-page.ts';
import { pagesClosed } from '../../watch/server/page-use.ts';
import { startWatchServer } from '../../watch/server/watch-server.ts';
import { gone, npxParent } from '../npx-parent.ts';
import { integer } from '../numbers.ts';
import { stopSignal } from '../stop-signal.ts';

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
    .option('--port <number>', 'port of 127.0.0.1 to listen on (default: any free one)', integer)
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
