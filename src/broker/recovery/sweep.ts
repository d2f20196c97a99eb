import { rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessage } from '../../common/error-message.ts';
import { type Endable, endLease } from '../../lease/end-lease.ts';
import { type ParsedNote, parseNote } from '../../lease/note.ts';
import type { ServiceClient } from '../../service/index.ts';
import { runningSessions } from '../../service/running-sessions.ts';
import type { Pool, Session } from '../../service/schemas/index.ts';
import { isOfBroker, markInName } from '../pools/run-pool-mark.ts';
import { deleteRunPool } from '../pools/run-pools.ts';
import { isSocketFolder } from '../rpc/socket-address.ts';
import { workspaceMark } from './ledger.ts';
import { type FoundLedger, type LedgerContent, readLedgers } from './ledger-file.ts';
import { type BrokerName, brokerKey, brokerOfNote, type Judging, LifeSigns } from './life-signs.ts';

/** What a sweep looks for. */
export interface SweepOptions {
  client: ServiceClient;
  baseURL: string;
  apiKey: string;
  /** Names this project in notes. */
  suite: string;
  ledgerFolder: string | null;
  /** Runs that are over by the CI's own word: earlier attempts at this one. */
  overRuns?: readonly string[];
  /** A run to end as well, whatever its notes and ledgers say, because the user says that it is dead. */
  runId?: string;
  /** Brokers that are dead by the word of the process that started them: what they left is found without their ledgers, too. */
  deadBrokers?: readonly BrokerName[];
  signal?: AbortSignal;
  /** The broker that sweeps: its own ledger is none of a dead one, and whoever had its socket before it is dead. */
  self?: Judging['self'];
  /** Where the sweep runs, and how it asks a broker's socket there; for tests. */
  place?: string | null | undefined;
  askSocket?: Judging['askSocket'];
}

/** What a sweep did. */
export interface SweepResult {
  /** Sessions that were stopped or released. */
  stopped: { sessionId: string; runId: string }[];
  /** Pools made for a dead run that were deleted, by name. */
  poolsDeleted: string[];
  /** Sessions of this project that belong to runs which are alive, or may be. */
  alive: { sessionId: string; runId: string; project: string }[];
  /**
   * Pools of which a dead run may still hold a browser: its acquire was never answered, so nobody knows which one. It
   * ends by itself at the pool's `leaseTimeoutSeconds`.
   */
  unknownLeases: { poolId: string; runId: string }[];
  /** Ledger files that could not be trusted, by their new name. */
  setAside: string[];
  /** What did not work, one line each; their ledgers stay. */
  failures: string[];
}

/**
 * Gives back what runs of this project left behind that died without a word: by the ledgers of their brokers, and by the
 * notes of sessions from any machine. Never touches a run that is alive: its broker answers at its socket, or its ledger
 * or notes say so by the service's clock; and never a session that is not of this project. Throws for nothing that it
 * finds: what did not work is in the result.
 */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const result = emptySweep();
  const ledgers = findLedgers(options, result);
  // The list before the judgement: a session whose create nobody heard of is found only there, and notes are signs of life.
  const sessions = await listSessions(options, result);
  const notes = sessions?.flatMap(({ note }) => parseNote(note) ?? []) ?? null;
  const { client, overRuns = [], deadBrokers, runId, self, place, askSocket } = options;
  const signs = new LifeSigns({ now: client.now(), notes, overRuns, deadBrokers, runId, self, place, askSocket });
  const dead: DeadLedger[] = [];
  for (const ledger of ledgers) {
    if (await signs.isDead(ledger.content)) dead.push({ ...ledger, done: false });
  }
  for (const ledger of dead) {
    const whole = await sweepLedger(ledger.content, options, result);
    ledger.done = whole && (sessions !== null || ledger.content.entries.every(({ sessionId }) => sessionId !== null));
  }
  for (const session of sessions ?? []) {
    const note = parseNote(session.note);
    if (note) await sweepByNote(session, note, { signs, dead }, options, result);
  }
  await sweepPools(ledgers, options, result);
  for (const ledger of dead) if (ledger.done) removeLedger(ledger, signs, self, result);
  return result;
}

/** A sweep that has done nothing. */
export function emptySweep(): SweepResult {
  return { stopped: [], poolsDeleted: [], alive: [], unknownLeases: [], setAside: [], failures: [] };
}

/** A ledger whose broker is dead. */
interface DeadLedger extends FoundLedger {
  /** Whether everything in it is given back. */
  done: boolean;
}

function findLedgers({ ledgerFolder, baseURL, apiKey }: SweepOptions, result: SweepResult): FoundLedger[] {
  if (ledgerFolder === null) return [];
  const { ledgers, setAside } = readLedgers(ledgerFolder);
  result.setAside = setAside;
  const workspace = workspaceMark(apiKey);
  return ledgers.filter(({ content }) => content.baseURL === baseURL && content.workspace === workspace);
}

/** Stops a session when its note says that it belongs to a dead run of this project. */
async function sweepByNote(
  { sessionId }: Session,
  note: ParsedNote,
  { signs, dead }: { signs: LifeSigns; dead: readonly DeadLedger[] },
  options: SweepOptions,
  result: SweepResult,
): Promise<void> {
  const { runId, project } = note;
  if (result.stopped.some((each) => each.sessionId === sessionId)) return;
  const ledgers = dead.filter(({ content }) => brokerKey(content) === brokerOfNote(note));
  if (ledgers.length === 0 && note.suite !== options.suite) return;
  if (!signs.isOver(note)) {
    result.alive.push({ sessionId, runId, project });
    return;
  }
  const stopped = await stop({ sessionId, leaseId: null, poolId: null }, runId, options, result);
  if (!stopped) for (const ledger of ledgers) ledger.done = false;
}

/**
 * Deletes pools that dead brokers made, where the disk was full or gone and no ledger names them: of brokers that are known
 * to be dead, and of runs that somebody says are, by the names that poolwright gives pools.
 */
async function sweepPools(ledgers: readonly FoundLedger[], options: SweepOptions, result: SweepResult): Promise<void> {
  const { client, suite, runId: named, overRuns = [], deadBrokers = [] } = options;
  const deadRuns = named === undefined ? overRuns : [...overRuns, named];
  if (deadBrokers.length === 0 && deadRuns.length === 0) return;
  let pools: Pool[];
  try {
    pools = await client.listPools();
  } catch (error) {
    result.failures.push(`could not list pools: ${errorMessage(error)}`);
    return;
  }
  for (const { runId, mark } of deadBrokers) {
    for (const { id } of pools.filter((pool) => isOfBroker(pool, mark)))
      await sweepPool(id, { runId, mark }, client, result);
  }
  // What is known of a broker that has a ledger here is more than its run's name.
  const judged = new Set(ledgers.map(({ content }) => content.mark));
  for (const runId of deadRuns) {
    for (const { id, name } of pools) {
      const mark = markInName(name, { suite, runId });
      if (mark !== null && !judged.has(mark)) await sweepPool(id, { runId, mark }, client, result);
    }
  }
}

/** Deletes one pool of a dead broker; false when the service did not confirm it. */
async function sweepPool(
  idOrName: string,
  { runId, mark }: BrokerName,
  client: ServiceClient,
  result: SweepResult,
): Promise<boolean> {
  try {
    const deleted = await deleteRunPool(client, idOrName, mark);
    if (deleted !== null) result.poolsDeleted.push(deleted);
    return true;
  } catch (error) {
    result.failures.push(`pool ${idOrName} of run ${runId} was not deleted: ${errorMessage(error)}`);
    return false;
  }
}

/** Ends one browser of a dead run; false when the service did not confirm it. */
async function stop(
  browser: Endable,
  runId: string,
  { client, signal }: SweepOptions,
  result: SweepResult,
): Promise<boolean> {
  const { sessionId } = browser;
  try {
    await endLease(client, browser, { signal });
    result.stopped.push({ sessionId, runId });
    return true;
  } catch (error) {
    result.failures.push(`session ${sessionId} of run ${runId} was not stopped: ${errorMessage(error)}`);
    return false;
  }
}

/** Removes a ledger that is done with, and the socket that its broker left here. */
function removeLedger(
  { file, content }: FoundLedger,
  signs: LifeSigns,
  self: SweepOptions['self'],
  result: SweepResult,
): void {
  try {
    rmSync(file, { force: true });
    rmSync(`${file}.tmp`, { force: true }); // of a broker that died while it wrote
  } catch (error) {
    result.failures.push(`${file} is done with, but could not be removed: ${errorMessage(error)}`);
  }
  // A successor has taken its own place at the socket.
  if (signs.isForsaken(content) && content.socket !== self?.socket) removeSocket(content);
}

/** A broker's socket lies alone in a folder of its own. Nothing else is removed, whatever a ledger names. */
function removeSocket({ socket }: LedgerContent): void {
  const folder = dirname(socket);
  if (!isSocketFolder(folder)) return;
  try {
    rmSync(socket, { force: true });
    rmdirSync(folder);
  } catch {
    // It is gone, or holds what is not ours: nobody waits for it.
  }
}

async function listSessions(options: SweepOptions, result: SweepResult): Promise<Session[] | null> {
  const found: Session[] = [];
  try {
    for await (const session of runningSessions(options.client, { signal: options.signal })) found.push(session);
    return found;
  } catch (error) {
    result.failures.push(`could not list sessions: ${errorMessage(error)}`);
    return null;
  }
}

/** Ends what a dead broker's ledger names; false when something is left. */
async function sweepLedger(ledger: LedgerContent, options: SweepOptions, result: SweepResult): Promise<boolean> {
  const { runId } = ledger;
  let whole = true;
  for (const { sessionId, leaseId, poolId } of ledger.entries) {
    if (sessionId) whole = (await stop({ sessionId, leaseId, poolId }, runId, options, result)) && whole;
    else if (poolId) result.unknownLeases.push({ poolId, runId });
  }
  for (const name of ledger.pools) whole = (await sweepPool(name, ledger, options.client, result)) && whole;
  return whole;
}
