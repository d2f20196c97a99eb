import type { StartedBroker } from '../broker/process/start.ts';
import type { HostedProject } from '../broker/rpc/protocol.ts';
import type { MergedOptions } from '../options/lease-plan.ts';
import { resolveService } from '../options/resolve-service.ts';
import { earlierAttempts, newRunId } from '../options/run-id.ts';
import type { RunRecord } from '../record/run-record.ts';

/** A process that belongs to no run, and wants browsers of its own. */
export interface OwnRun {
  /** As the user wrote them. */
  options: MergedOptions;
  project: HostedProject;
  /** Where the user's project is looked for. */
  folder: string;
  shard: RunRecord['shard'];
  runner: RunRecord['runner'];
}

/**
 * Starts a broker that ends with this process: the same path as a run's, for one process. Without a record.
 * @throws OptionsError, ServiceError or EmulatorError codes, see `startBroker`
 */
export async function startOwnBroker({ options, project, folder, shard, runner }: OwnRun): Promise<StartedBroker> {
  // Most workers have their run's, and need no part of what starts one.
  const { startBroker } = await import('../broker/process/start.ts');
  const { projectFolder } = await import('../options/project-folder.ts');
  const { pool, ...rest } = options;
  const { suite, ledgerFolder } = projectFolder(folder);
  const broker = await startBroker({
    runId: newRunId(process.env),
    runner,
    service: resolveService({ ...rest, pool: pool ?? undefined }, process.env),
    recordFolder: null,
    workers: 1,
    shard,
    suite,
    ledgerFolder,
    overRuns: earlierAttempts(process.env),
    projects: [project],
  });
  await broker.started();
  return broker;
}
