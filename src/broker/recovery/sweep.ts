import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { errorMessage } from '../../common/error-message.ts';
import {
  type BrowserProvider,
  type Endable,
  type MadePool,
  type RunningBrowser,
  unleased,
} from '../../providers/port.ts';
import { type ParsedNote, parseNote } from '../browsers/session-note.ts';
import { type FoundLedger, type LedgerContent, ledgerLine, readLedgers } from '../ledger/ledger-file.ts';
import type { Workspace } from '../ledger/workspace.ts';
import { type BrokerName, brokerKey, brokerOfNote, type Judging, LivenessChecker } from './liveness-checker.ts';

export interface SweepOptions {
  provider: BrowserProvider;
  workspace: Workspace;
  /** Names this project in notes. */
  suite: string;
  ledgerDirectory: string | null;
  /** Runs that the CI reports as over: earlier attempts of this run. */
  overRuns?: readonly string[];
  /** A run to end as well, whatever its notes and ledgers show, because the user declares it dead. */
  runId?: string;
  /**
   * Brokers reported dead by the process that started them: the sweep finds what they left even without their ledgers.
   */
  deadBrokers?: readonly BrokerName[];
  signal?: AbortSignal;
  /** The broker that sweeps: its own ledger does not count as dead, and every earlier owner of its socket is dead. */
  self?: Judging['self'];
  /** Where the sweep runs, and how it checks a broker's socket there; for tests. */
  place?: string | null | undefined;
  askSocket?: Judging['askSocket'];
}

export interface SweepResult {
  stopped: { sessionId: string; runId: string }[];
  /** Names of the deleted pools, which were created for dead runs. */
  poolsDeleted: string[];
  /** Sessions of this project that belong to runs which are, or may be, alive. */
  alive: { sessionId: string; runId: string; project: string }[];
  /**
   * Pools of which a dead run may still hold a browser: its acquire got no response, so the browser is unknown. It ends
   * by itself at the pool's `leaseTimeoutSeconds`.
   */
  unknownLeases: { poolId: string; runId: string }[];
  /**
   * Requests to a provider of which a dead run may have left a browser whose ID is unknown. Their ledger stays: with
   * `listedBy` (ISO 8601), the list shows by then whether there is one; null: the provider has no list, so that only
   * the user can look for a browser with `req=<request>` in its label, and then delete the ledger.
   */
  unknownBrowsers: { request: string; runId: string; listedBy: string | null; ledger: string }[];
  /** Ledger files that are not valid, by their new name. */
  setAside: string[];
  /** Failures, one line each; the ledgers involved stay. */
  failures: string[];
}

/**
 * Gives back what crashed runs of this project left, from the ledgers of their brokers and from the notes of sessions
 * started on any machine. Never touches a live run: its broker responds at its socket, or its ledger or notes have a
 * recent beat by the service's clock. Never touches sessions of other projects. Does not throw for a failed step: the
 * result lists it.
 */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const result = emptySweep();
  const ledgers = findLedgers(options, result);
  // List the sessions before judging: only the list shows sessions whose create had no response, and notes are signs of
  // life.
  const sessions = await listSessions(options, result);
  const notes = sessions?.flatMap(({ note }) => parseNote(note) ?? []) ?? null;
  const { provider, overRuns = [], deadBrokers, runId, self, place, askSocket } = options;
  const signs = new LivenessChecker({
    now: provider.now(),
    notes,
    renewsNotes: provider.notes !== undefined,
    overRuns,
    deadBrokers,
    runId,
    self,
    place,
    askSocket,
  });
  const dead: DeadLedger[] = [];
  for (const ledger of ledgers) {
    if (await signs.isDead(ledger.content)) dead.push({ ...ledger, ended: new Set(), done: false });
  }
  for (const ledger of dead) {
    const whole = await sweepLedger(ledger, options, result);
    ledger.done = whole && (sessions !== null || ledger.content.entries.every(({ sessionId }) => sessionId !== null));
  }
  for (const session of sessions ?? []) {
    const note = parseNote(session.note);
    if (note) await sweepByNote(session, note, { signs, dead }, options, result);
  }
  await sweepPools(ledgers, options, result);
  for (const ledger of dead) (ledger.done ? removeLedger : keepRest)(ledger, result);
  return result;
}

export function emptySweep(): SweepResult {
  return {
    stopped: [],
    poolsDeleted: [],
    alive: [],
    unknownLeases: [],
    unknownBrowsers: [],
    setAside: [],
    failures: [],
  };
}

/** A ledger whose broker is dead. */
interface DeadLedger extends FoundLedger {
  /** Requests whose browser this sweep has ended. */
  readonly ended: Set<string>;
  /** Whether everything in it is given back. */
  done: boolean;
}

function findLedgers({ ledgerDirectory, workspace }: SweepOptions, result: SweepResult): FoundLedger[] {
  if (ledgerDirectory === null) return [];
  const { ledgers, setAside } = readLedgers(ledgerDirectory);
  result.setAside = setAside;
  return ledgers.filter(
    ({ content }) => content.baseURL === workspace.baseURL && content.workspace === workspace.workspace,
  );
}

/** Stops a session if its note belongs to a dead run of this project. */
async function sweepByNote(
  { sessionId }: RunningBrowser,
  note: ParsedNote,
  { signs, dead }: { signs: LivenessChecker; dead: readonly DeadLedger[] },
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
  const stopped = await stop(unleased(sessionId), runId, options, result);
  if (!stopped) for (const ledger of ledgers) ledger.done = false;
}

/**
 * Deletes pools of dead brokers that no ledger names, because the disk was full or gone. Covers brokers that are known
 * to be dead, and runs that are reported dead, identified by poolwright's pool names.
 */
async function sweepPools(ledgers: readonly FoundLedger[], options: SweepOptions, result: SweepResult): Promise<void> {
  const { provider, suite, runId: named, overRuns = [], deadBrokers = [] } = options;
  const deadRuns = named === undefined ? overRuns : [...overRuns, named];
  if (!provider.pools || (deadBrokers.length === 0 && deadRuns.length === 0)) return;
  let pools: MadePool[];
  try {
    const runs = deadRuns.map((runId) => ({ runId, suite }));
    pools = await provider.pools.madeBy(deadBrokers, runs);
  } catch (error) {
    result.failures.push(`could not list pools: ${errorMessage(error)}`);
    return;
  }
  // A broker's ledger is better evidence than its run's name.
  const judged = new Set(ledgers.map(({ content }) => content.mark));
  for (const { id, isOfRun, ...broker } of pools) {
    if (!isOfRun || !judged.has(broker.mark)) await sweepPool(id, broker, provider, result);
  }
}

/** Deletes one pool of a dead broker; false if the service did not confirm it. */
async function sweepPool(
  idOrName: string,
  { runId, mark }: BrokerName,
  { pools }: BrowserProvider,
  result: SweepResult,
): Promise<boolean> {
  try {
    const deleted = await pools?.delete(idOrName, mark);
    if (deleted) result.poolsDeleted.push(deleted);
    return true;
  } catch (error) {
    result.failures.push(`pool ${idOrName} of run ${runId} was not deleted: ${errorMessage(error)}`);
    return false;
  }
}

/** Ends one browser of a dead run; false if the service did not confirm it. */
async function stop(
  browser: Endable,
  runId: string,
  { provider, signal }: SweepOptions,
  result: SweepResult,
): Promise<boolean> {
  const { sessionId } = browser;
  try {
    await provider.release(browser, { signal });
    result.stopped.push({ sessionId, runId });
    return true;
  } catch (error) {
    result.failures.push(`session ${sessionId} of run ${runId} was not stopped: ${errorMessage(error)}`);
    return false;
  }
}

/**
 * Adds to a ledger that stays what this sweep has ended: the next one must not claim that again. After an incomplete
 * change, nothing may follow; such a ledger stays as it is.
 */
function keepRest({ file, content: { beatAt }, ended }: DeadLedger, result: SweepResult): void {
  if (ended.size === 0) return;
  try {
    if (!readFileSync(file, 'utf8').endsWith('\n')) return;
    appendFileSync(file, [...ended].map((settled) => ledgerLine({ beatAt, settled })).join(''));
  } catch (error) {
    result.failures.push(`${file} could not be changed: ${errorMessage(error)}`);
  }
}

function removeLedger({ file }: FoundLedger, result: SweepResult): void {
  try {
    rmSync(file, { force: true });
    rmSync(`${file}.tmp`, { force: true }); // from a broker that died while it was writing
  } catch (error) {
    result.failures.push(`${file} is done with, but could not be removed: ${errorMessage(error)}`);
  }
}

async function listSessions(options: SweepOptions, result: SweepResult): Promise<RunningBrowser[] | null> {
  const found: RunningBrowser[] = [];
  try {
    for await (const session of options.provider.list(options.signal)) found.push(session);
    return found;
  } catch (error) {
    result.failures.push(`could not list sessions: ${errorMessage(error)}`);
    return null;
  }
}

/** Ends everything in a dead broker's ledger; false if something is left, or may be. */
async function sweepLedger(
  { file, content, ended }: DeadLedger,
  options: SweepOptions,
  result: SweepResult,
): Promise<boolean> {
  const { runId } = content;
  const listedBy = listedFrom(content, options.provider);
  let whole = true;
  for (const { request, sessionId, leaseId, poolId } of content.entries) {
    if (sessionId) {
      if (await stop({ sessionId, leaseId, poolId }, runId, options, result)) ended.add(request);
      else whole = false;
    } else if (poolId) result.unknownLeases.push({ poolId, runId });
    else if (options.provider.now() < listedBy) {
      whole = false;
      const by = Number.isFinite(listedBy) ? new Date(listedBy).toISOString() : null;
      result.unknownBrowsers.push({ request, runId, listedBy: by, ledger: file });
    }
  }
  for (const name of content.pools) whole = (await sweepPool(name, content, options.provider, result)) && whole;
  return whole;
}

/** From when on the list shows every browser that a ledger's requests have made, in ms since the epoch. */
function listedFrom({ beatAt }: LedgerContent, { unlistedMs }: BrowserProvider): number {
  return Date.parse(beatAt) + unlistedMs;
}
