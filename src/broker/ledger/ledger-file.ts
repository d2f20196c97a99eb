import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { browserIdentity } from '../../common/browser-identity-schema.ts';
import { parsedJson } from '../../common/text/parsed-json.ts';

/**
 * A ledger on disk: the browsers that one broker requested and whose end is not confirmed. Contains no key and no
 * `cdpUrl`. The first line is a complete ledger; each further line is one later change. The cost of a change therefore
 * does not depend on the number of browsers.
 */

const ledgerEntry = v.object({
  /** `req=` of the session's note: unique, and chosen before the request is sent. */
  request: v.string(),
  poolId: browserIdentity.poolId,
  leaseId: browserIdentity.leaseId,
  /** Null while the request has no response. */
  sessionId: v.nullable(browserIdentity.sessionId),
});

const isoTime = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text))),
);

const ledgerContent = v.object({
  schema: v.literal(1),
  runId: v.string(),
  /** Distinguishes this broker from every other one, including an earlier one at the same socket. */
  mark: v.string(),
  /** Address of the service and identity of the workspace. */
  baseURL: v.string(),
  workspace: v.string(),
  /**
   * Where the broker runs (see `systemIdentity`), and its socket there: while the socket responds, the broker is alive.
   */
  place: v.nullable(v.string()),
  socket: v.string(),
  /** ISO 8601, by the service's clock: last sign of life. */
  beatAt: isoTime,
  /** Names of the pools created for the run. */
  pools: v.array(v.string()),
  entries: v.array(ledgerEntry),
});

const ledgerChange = v.object({
  beatAt: isoTime,
  /** A new entry, or an update of a known one. */
  entry: v.optional(ledgerEntry),
  /** The request of a removed entry. */
  settled: v.optional(v.string()),
  pool: v.optional(v.string()),
  poolGone: v.optional(v.string()),
});

export type LedgerEntry = v.InferOutput<typeof ledgerEntry>;
export type LedgerChange = v.InferOutput<typeof ledgerChange>;
export type LedgerContent = v.InferOutput<typeof ledgerContent>;

export interface FoundLedger {
  file: string;
  content: LedgerContent;
}

const EXTENSION = '.ledger.json';

/** Serializes a complete ledger, or one change of it. */
export function ledgerLine(content: LedgerContent | LedgerChange): string {
  return `${JSON.stringify(content)}\n`;
}

export function ledgerFileName(runId: string, unique: string): string {
  return `${runId}-${unique}${EXTENSION}`;
}

/**
 * Reads every ledger in a directory. A file that is not a valid ledger of this version (truncated, foreign) is neither
 * used nor deleted: it is renamed and listed in `setAside`.
 */
export function readLedgers(directory: string): { ledgers: FoundLedger[]; setAside: string[] } {
  const ledgers: FoundLedger[] = [];
  const setAside: string[] = [];
  for (const name of ledgerNames(directory)) {
    const file = join(directory, name);
    const content = readLedger(file);
    if (content === 'gone') continue;
    if (content) ledgers.push({ file, content });
    else if (moveAside(file)) setAside.push(`${file}.bad`);
  }
  return { ledgers, setAside };
}

function ledgerNames(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(EXTENSION));
  } catch {
    return []; // no directory, no ledgers
  }
}

/** Null: not a ledger. `gone`: its broker has just removed it. */
function readLedger(file: string): LedgerContent | null | 'gone' {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return 'gone';
  }
  return parseLedger(text);
}

/**
 * Parses a ledger and its changes; null: not a ledger. Text after the last line break is an incomplete change: its
 * broker died while writing it, or the disk was full. It is ignored.
 */
export function parseLedger(text: string): LedgerContent | null {
  const [first = '', ...rest] = text.split('\n');
  const changes = rest.slice(0, -1);
  const content = parsed(ledgerContent, first);
  if (!content) return null;
  const pools = new Set(content.pools);
  const entries = new Map(content.entries.map((entry) => [entry.request, entry]));
  let { beatAt } = content;
  for (const line of changes) {
    const change = parsed(ledgerChange, line);
    if (!change) return null;
    const { entry, settled, pool, poolGone } = change;
    if (entry) entries.set(entry.request, entry);
    if (settled !== undefined) entries.delete(settled);
    if (pool !== undefined) pools.add(pool);
    if (poolGone !== undefined) pools.delete(poolGone);
    beatAt = change.beatAt;
  }
  return { ...content, beatAt, pools: [...pools], entries: [...entries.values()] };
}

function parsed<S extends v.GenericSchema>(schema: S, text: string): v.InferOutput<S> | null {
  const { success, output } = v.safeParse(schema, parsedJson(text));
  return success ? output : null;
}

function moveAside(file: string): boolean {
  try {
    renameSync(file, `${file}.bad`);
    return true;
  } catch {
    return false; // another process was faster
  }
}
