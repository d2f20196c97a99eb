import { join } from 'node:path';
import { addressSecrets } from '../../common/text/shown-fields.ts';
import { proxySecrets } from '../../common/url/credentials.ts';
import { RunRecorder } from '../../record/run-recorder.ts';
import type { BrokerConfig } from '../config/config.ts';
import { createLog, type Log } from '../log/log.ts';
import type { Terminal } from '../log/terminal.ts';
import type { RunService } from './run-service.ts';

/** What a run writes: its log and its record, and the secrets that they must not contain. */

export function openLog(config: BrokerConfig, service: RunService, terminal: Terminal): Log {
  const file = config.recordDirectory ? join(config.recordDirectory, 'broker.log') : null;
  return createLog({ file, terminal, secrets: secretsOf(config, service), debug: config.debug });
}

export function openRecorder(
  config: BrokerConfig,
  chromiums: string[],
  onWriteError: (error: unknown) => void = () => undefined,
): RunRecorder {
  return new RunRecorder({
    runId: config.runId,
    runner: config.runner,
    service: config.service.kind,
    chromiums,
    shard: config.shard,
    recordDirectory: config.recordDirectory,
    isSuccessor: config.deadMarks.length > 0,
    onWriteError,
  });
}

/** Writes the record of a run that cannot begin, with the reason. */
export async function recordRefusal(config: BrokerConfig, reason: unknown): Promise<void> {
  const recorder = openRecorder(config, []);
  recorder.leaseFailed(reason);
  await recorder.end(null);
}

export function secretsOf({ token, projects }: BrokerConfig, service: RunService): string[] {
  const proxies = projects.flatMap(({ plan: { pool, session } }) => [
    ...proxySecrets(session),
    ...(typeof pool === 'object' ? proxySecrets(pool?.create.browser ?? {}) : []),
  ]);
  const ofService =
    service.kind === 'hosted'
      ? [service.apiKey, ...addressSecrets(service.baseURL).slice(1)]
      : service.kind === 'browsers'
        ? service.browsers.flatMap(({ url }) => addressSecrets(url))
        : [];
  return [...ofService, token, ...new Set(proxies)];
}
