import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Consumer } from '../e2e/consumer.ts';
import { processesIn } from '../e2e/process-tree.ts';
import type { Others } from './chaos-others.ts';
import { type ChaosService, runningSessions } from './chaos-service.ts';
import { LEDGERS } from './chaos-surroundings.ts';

/** What a run may leave, one line each. */

/** Sessions and pools that are not somebody else's. */
export async function leftAtService({ client }: ChaosService, others: Others): Promise<string[]> {
  try {
    const sessions = await runningSessions(client);
    const pools = await client.listPools();
    return [
      ...sessions.flatMap(({ sessionId, note }) =>
        others.sessions.has(sessionId) ? [] : `session ${sessionId} (${note})`,
      ),
      ...pools.flatMap(({ name }) => (others.pools.has(name) ? [] : `pool ${name}`)),
    ];
  } catch (error) {
    return [`not known: ${String(error)}`]; // spoilt by a fault
  }
}

/** Ledgers of runs in a folder, and what is not one and looks like it. */
export function leftLedgers({ folder }: Consumer): string[] {
  const ledgers = join(folder, LEDGERS);
  if (!existsSync(ledgers)) return [];
  return readdirSync(ledgers)
    .filter((name) => name.includes('.ledger.json'))
    .map((name) => `ledger ${name}`);
}

/** Runners, workers and brokers in a folder. */
export function leftProcesses({ folder }: Consumer): string[] {
  return processesIn(folder).map((pid) => `process ${pid} ${commandOf(pid)}`);
}

/** Browsers and folders of emulators: by their process, or all that are in a temporary folder. */
export function leftOfEmulators(temporary: string, emulator: number | null): string[] {
  const folders = readdirSync(temporary).filter((name) => {
    return name.startsWith('poolwright-emulator-') && (emulator === null || name.includes(`-${emulator}-`));
  });
  return [...browsersIn(temporary, emulator), ...folders.map((name) => `folder ${name}`)];
}

/** Chromiums whose profile lies in a temporary folder. */
export function browsersIn(temporary: string, emulator: number | null): string[] {
  const profile = new RegExp(`${temporary}/poolwright-emulator-\\w+-${emulator ?? '\\d+'}-`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => profile.test(commandOf(pid)))
    .map((pid) => `browser ${pid}`);
}

/** Folders of brokers' sockets. */
export function leftSockets(temporary: string): string[] {
  return readdirSync(temporary)
    .filter((name) => /^poolwright-\w{6}$/.test(name))
    .map((name) => `folder ${name}`);
}

/** Sessions of which a run that had its last word says that their end was not confirmed. */
export async function unconfirmed(consumer: Consumer): Promise<string[]> {
  let record: { endedAt: string | null; sessions: { sessionId: string; endConfirmed: boolean | null }[] };
  try {
    record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
  } catch {
    return []; // it died before it could write one, or had no room for it
  }
  if (record.endedAt === null) return []; // it died before its last word
  // Not known of those that a dead broker held: its ledger is what counts.
  return record.sessions
    .filter(({ endConfirmed }) => endConfirmed === false)
    .map(({ sessionId }) => `session ${sessionId}: its end is not confirmed`);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return ''; // it has just ended
  }
}
