import type { Command } from 'commander';
import { type SweepResult, sweep } from '../../broker/recovery/sweep.ts';
import { projectFolder } from '../../options/project-folder.ts';
import { hostedService } from '../../options/resolve-service.ts';
import { printJson } from '../print.ts';
import { withProgress } from '../progress.ts';
import { withClient } from '../with-client.ts';

interface Options {
  run?: string;
  json?: boolean;
}

/** `poolwright sweep`: gives back what dead runs of this project left. */
export function addSweepCommand(program: Command): void {
  program
    .command('sweep')
    .description("Stop the browsers that dead runs of this folder's project left (a run does it too when it starts)")
    .option(
      '--run <id>',
      'also end this run, which you know is dead (its ID is in the notes of its sessions and the names of its pools)',
    )
    .option('--json', 'print JSON')
    .action(run);
}

async function run({ run: runId, json }: Options): Promise<void> {
  const { suite, ledgerFolder, root } = projectFolder(process.cwd());
  const { baseURL, apiKey } = hostedService({}, process.env);
  const result = await withProgress('looking for what dead runs left', () =>
    withClient((client) => sweep({ client, baseURL, apiKey, suite, ledgerFolder, runId })),
  );
  if (json) printJson(result);
  else for (const line of lines(result, root)) process.stdout.write(`${line}\n`);
  if (result.failures.length > 0) process.exitCode = 1;
}

function lines(result: SweepResult, root: string): string[] {
  const { stopped, poolsDeleted, alive, unknownLeases, setAside, failures } = result;
  const said = [
    ...stopped.map(({ sessionId, runId }) => `stopped ${sessionId} (run ${runId})`),
    ...poolsDeleted.map((name) => `deleted pool ${name}`),
    ...alive.map(
      ({ sessionId, runId }) =>
        `left ${sessionId}: run ${runId} may be alive (is it dead? poolwright sweep --run ${runId})`,
    ),
    ...unknownLeases.map(
      ({ poolId, runId }) =>
        `run ${runId} may hold one more browser of pool ${poolId} (its acquire was never answered): it ends by itself at the pool's leaseTimeoutSeconds`,
    ),
    ...setAside.map((file) => `set aside ${file}: not a ledger of this version, or only half of one`),
    ...failures.map((failure) => `failed: ${failure}`),
  ];
  return said.length > 0 ? said : [`nothing left behind by dead runs of ${root}`];
}
