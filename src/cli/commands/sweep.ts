import type { Command } from 'commander';
import { directoryClock } from '../../broker/ledger/directory-clock.ts';
import { workspaceOf } from '../../broker/ledger/workspace.ts';
import { removeLeftSockets } from '../../broker/recovery/left-sockets.ts';
import { unknownBrowserLines } from '../../broker/recovery/run-sweep.ts';
import { emptySweep, type SweepResult, sweep } from '../../broker/recovery/sweep.ts';
import { notify } from '../../common/text/notify.ts';
import { variable } from '../../options/environment.ts';
import { projectDirectory } from '../../options/project-directory.ts';
import { shellWord } from '../../printable.ts';
import { openProvider } from '../../providers/open-provider.ts';
import { printJson, printLine } from '../print.ts';
import { withProgress } from '../terminal.ts';
import { ownBrowsersOfShell, serviceOfShell } from '../with-client.ts';

interface Options {
  run?: string;
  json?: boolean;
}

/** `poolwright sweep`: gives back what dead runs of this project left. */
export function addSweepCommand(program: Command): void {
  program
    .command('sweep')
    .description('Stop browsers left by dead runs of this project (each run also does this when it starts)')
    .option(
      '--run <id>',
      'also end this run, if you know that it is dead (its ID is in the notes of its sessions and the names of its pools)',
    )
    .option('--json', 'print JSON')
    .action(run);
}

async function run({ run: runId, json }: Options): Promise<void> {
  await removeLeftSockets();
  const { suite, ledgerDirectory, root } = projectDirectory(process.cwd());
  const browsers = ownBrowsersOfShell();
  const isProvided = browsers?.kind === 'provider';
  const isRunning = browsers?.kind === 'browsers';
  if (!isProvided && (runId === undefined || isRunning) && variable(process.env, 'POOLWRIGHT_API_KEY') === undefined) {
    // A job without secrets, such as a fork's, has no hosted browsers.
    if (isRunning) notify('POOLWRIGHT_CDP_URL names browsers that run already: nothing to sweep (no run ends them)');
    else notify('POOLWRIGHT_API_KEY is not set: nothing to sweep (browsers of the emulator end with their run)');
    if (json) printJson(emptySweep());
    return;
  }
  const swept = isProvided ? browsers : serviceOfShell();
  const options = { suite, ledgerDirectory, workspace: workspaceOf(swept), ...(runId !== undefined && { runId }) };
  const result = await withProgress('looking for browsers of dead runs', async () => {
    const provider = await openProvider(swept, { onNote: notify, beatClock: directoryClock(ledgerDirectory) });
    return await sweep({ ...options, provider }).finally(() => provider.close());
  });
  if (json) printJson(result);
  else for (const line of sweepReport(result, root)) printLine(line);
  if (result.failures.length > 0 || result.unknownBrowsers.length > 0) process.exitCode = 1;
}

/** The results of a sweep, one line each. */
export function sweepReport(result: SweepResult, root: string): string[] {
  const { stopped, poolsDeleted, alive, unknownLeases, unknownBrowsers, setAside, failures } = result;
  const said = [
    ...stopped.map(({ sessionId, runId }) => `stopped ${sessionId} (run ${runId})`),
    ...poolsDeleted.map((name) => `deleted pool ${name}`),
    ...alive.map(
      ({ sessionId, runId }) =>
        `left ${sessionId}: run ${runId} may be alive (if it is dead: npx poolwright sweep --run ${shellWord(runId)})`,
    ),
    ...unknownLeases.map(
      ({ poolId, runId }) =>
        `run ${runId} may hold one more browser of pool ${poolId} (its acquire request got no response): it ends after the pool's leaseTimeoutSeconds`,
    ),
    ...unknownBrowserLines(unknownBrowsers),
    ...setAside.map((file) => `set aside ${file}: not a ledger of this version, or incomplete`),
    ...failures.map((failure) => `failed: ${failure}`),
  ];
  return said.length > 0 ? said : [`nothing left behind by dead runs of ${root}`];
}
