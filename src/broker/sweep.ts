import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { basename, dirname } from 'node:path';
import { PoolwrightError } from '../errors.ts';
import { endLease } from '../lease/end-lease.ts';
import { type ParsedNote, parseNote } from '../lease/note.ts';
import type { ServiceClient } from '../service/index.ts';
import type { Session } from '../service/schemas/index.ts';
import { workspaceMark } from './ledger.ts';
import { type FoundLedger, type LedgerContent, readLedgers } from './ledger-file.ts';
import { deleteRunPool } from './run-pools.ts';

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
  /** A run to end whatever its notes and ledgers say, because the user says that it is dead. */
  runId?: string;
  signal?: AbortSignal;
  /** The broker that sweeps: its own ledger is none of a dead one, and whoever had its socket before it is dead. */
  self?: { mark: string; socket: string };
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

/** A run says every 5 minutes that it is alive; one that has not for so long, in ms, is dead. */
const SILENT_MS = 20 * 60_000;
/** Bound on asking a broker's socket, in ms. */
const ALIVE_TIMEOUT_MS = 2_000;

/**
 * Gives back what runs of this project left behind that died without a word: by the ledgers of their brokers on this
 * machine, and by the notes of sessions from any machine. Never touches a run that is alive: its broker answers at its
 * socket, or its notes say so; and never a session that is not of this project.
 */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const result: SweepResult = {
    stopped: [],
    poolsDeleted: [],
    alive: [],
    unknownLeases: [],
    setAside: [],
    failures: [],
  };
  const dead = await deadLedgers(options, result);
  // The list first: a session whose create nobody heard of is found only there.
  const sessions = await listSessions(options, result);
  for (const ledger of dead) {
    const done = await sweepLedger(ledger.content, options, result);
    ledger.done = done && (sessions !== null || ledger.unanswered.size === 0);
  }
  for (const session of sessions ?? []) await sweepByNote(session, dead, options, result);
  for (const { file, content, done } of dead) {
    if (!done) continue;
    rmSync(file, { force: true });
    removeSocket(content, options.self);
  }
  return result;
}

/** A ledger whose broker is dead. */
interface DeadLedger extends FoundLedger {
  /** Requests whose outcome the broker did not live to see. */
  unanswered: Set<string>;
  /** Whether everything in it is given back. */
  done: boolean;
}

async function deadLedgers(options: SweepOptions, result: SweepResult): Promise<DeadLedger[]> {
  if (options.ledgerFolder === null) return [];
  const { ledgers, setAside } = readLedgers(options.ledgerFolder);
  result.setAside = setAside;
  const dead: DeadLedger[] = [];
  for (const ledger of ledgers) {
    if (!sameService(ledger.content, options) || (await isAlive(ledger.content, options))) continue;
    const unanswered = ledger.content.entries.filter(({ sessionId }) => sessionId === null);
    dead.push({ ...ledger, unanswered: new Set(unanswered.map(({ request }) => request)), done: false });
  }
  return dead;
}

/** Stops a session when its note says that it belongs to a dead run of this project. */
async function sweepByNote(
  session: Session,
  dead: readonly DeadLedger[],
  options: SweepOptions,
  result: SweepResult,
): Promise<void> {
  const { sessionId } = session;
  const note = parseNote(session.note);
  if (!note || result.stopped.some((each) => each.sessionId === sessionId)) return;
  const ledger = dead.find(({ unanswered }) => unanswered.has(note.request));
  if (!ledger && note.suite !== options.suite) return;
  if (!ledger && !isOver(note, options)) {
    result.alive.push({ sessionId, runId: note.runId, project: note.project });
    return;
  }
  try {
    await options.client.stopSession(sessionId, { signal: options.signal });
    result.stopped.push({ sessionId, runId: note.runId });
  } catch (error) {
    if (ledger) ledger.done = false;
    result.failures.push(`session ${sessionId} of run ${note.runId} was not stopped: ${textOf(error)}`);
  }
}

/** The folder that a dead broker of this machine left with its socket. A successor has taken its own place there. */
function removeSocket({ host, socket }: LedgerContent, self?: SweepOptions['self']): void {
  const folder = dirname(socket);
  if (host !== hostname() || socket === self?.socket || !/^poolwright-\w+$/.test(basename(folder))) return;
  rmSync(folder, { recursive: true, force: true });
}

function sameService(ledger: LedgerContent, { baseURL, apiKey }: SweepOptions): boolean {
  return ledger.baseURL === baseURL && ledger.workspace === workspaceMark(apiKey);
}

/** A broker of this machine is alive while it answers; of another one, while its ledger is kept up. */
async function isAlive(ledger: LedgerContent, { self }: SweepOptions): Promise<boolean> {
  if (ledger.mark === self?.mark) return true;
  if (ledger.host !== hostname()) return Date.now() - Date.parse(ledger.beatAt) < SILENT_MS;
  if (ledger.socket === self?.socket) return false;
  return await new Promise((resolve) => {
    const socket = connect(ledger.socket);
    const settle = (alive: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(alive);
    };
    // One that takes the connection and says nothing more is there all the same.
    const timer = setTimeout(() => settle(true), ALIVE_TIMEOUT_MS);
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

function isOver(note: ParsedNote, { overRuns = [], runId }: SweepOptions): boolean {
  if (runId !== undefined) return note.runId === runId;
  return overRuns.includes(note.runId) || Date.now() - note.beat.getTime() > SILENT_MS;
}

async function listSessions(options: SweepOptions, result: SweepResult): Promise<Session[] | null> {
  const found = new Map<string, Session>();
  try {
    // In this order, so that a session which becomes active in between is not missed.
    for (const status of ['starting', 'active'] as const) {
      const page = options.client.iterateSessions({ status, pageSize: 100 }, { signal: options.signal });
      for await (const session of page) found.set(session.sessionId, session);
    }
    return [...found.values()];
  } catch (error) {
    result.failures.push(`the session list could not be had: ${textOf(error)}`);
    return null;
  }
}

/** Ends what a dead broker's ledger names; false when something is left. */
async function sweepLedger(ledger: LedgerContent, options: SweepOptions, result: SweepResult): Promise<boolean> {
  let whole = true;
  for (const { sessionId, leaseId, poolId } of ledger.entries) {
    if (!sessionId) {
      if (poolId) result.unknownLeases.push({ poolId, runId: ledger.runId });
      continue;
    }
    try {
      await endLease(options.client, { sessionId, leaseId, poolId }, { signal: options.signal });
      result.stopped.push({ sessionId, runId: ledger.runId });
    } catch (error) {
      whole = false;
      result.failures.push(`session ${sessionId} of run ${ledger.runId} was not stopped: ${textOf(error)}`);
    }
  }
  for (const name of ledger.pools) {
    try {
      const deleted = await deleteRunPool(options.client, name, ledger.mark);
      if (deleted !== null) result.poolsDeleted.push(deleted);
    } catch (error) {
      whole = false;
      result.failures.push(`pool ${name} of run ${ledger.runId} was not deleted: ${textOf(error)}`);
    }
  }
  return whole;
}

function textOf(error: unknown): string {
  return error instanceof PoolwrightError ? error.message : String(error);
}
