import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { browserIdentity } from '../../common/browser-identity-schema.ts';

/**
 * A ledger on disk: what one broker asked for and did not see ended. Holds no key and no `cdpUrl`. Its first line is the
 * whole of it as it once was; each line behind it is one change since then, so that noting one takes the same time however
 * many browsers there are.
 */

const ledgerEntry = z.object({
  /** `req=` of the session's note: unique, and chosen before the request goes out. */
  request: z.string(),
  poolId: browserIdentity.shape.poolId,
  leaseId: browserIdentity.shape.leaseId,
  /** Null while the request is unanswered. */
  sessionId: browserIdentity.shape.sessionId.nullable(),
});

const isoTime = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

const ledgerContent = z.object({
  schema: z.literal(1),
  runId: z.string(),
  /** Tells this broker from every other one, also from one before it at the same socket. */
  mark: z.string(),
  /** Address of the service, and which of its workspaces. */
  baseURL: z.string(),
  workspace: z.string(),
  /** Where the broker runs, as `systemIdentity` has it, and its socket there: it is alive as long as it answers. */
  place: z.string().nullable(),
  socket: z.string(),
  /** ISO 8601, by the service's clock: last sign of life. */
  beatAt: isoTime,
  /** Names of pools made for the run. */
  pools: z.array(z.string()),
  entries: z.array(ledgerEntry),
});

const ledgerChange = z.object({
  beatAt: isoTime,
  /** A new entry, or a known one that says more. */
  entry: ledgerEntry.optional(),
  /** The request of an entry that is gone. */
  settled: z.string().optional(),
  pool: z.string().optional(),
  poolGone: z.string().optional(),
});

export type LedgerEntry = z.infer<typeof ledgerEntry>;
export type LedgerChange = z.infer<typeof ledgerChange>;
export type LedgerContent = z.infer<typeof ledgerContent>;

/** A ledger that was found. */
export interface FoundLedger {
  file: string;
  content: LedgerContent;
}

const EXTENSION = '.ledger.json';

/** A ledger without changes, or one change of it, as it is written. */
export function ledgerLine(content: LedgerContent | LedgerChange): string {
  return `${JSON.stringify(content)}\n`;
}

export function ledgerFileName(runId: string, unique: string): string {
  return `${runId}-${unique}${EXTENSION}`;
}

/**
 * Every ledger in a folder. One that cannot be read as a ledger of this version (truncated, foreign) is renamed out of
 * the way and named in `setAside`: not trusted, not deleted.
 */
export function readLedgers(folder: string): { ledgers: FoundLedger[]; setAside: string[] } {
  const ledgers: FoundLedger[] = [];
  const setAside: string[] = [];
  for (const name of ledgerNames(folder)) {
    const file = join(folder, name);
    const content = readLedger(file);
    if (content === 'gone') continue;
    if (content) ledgers.push({ file, content });
    else if (moveAside(file)) setAside.push(`${file}.bad`);
  }
  return { ledgers, setAside };
}

function ledgerNames(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(EXTENSION));
  } catch {
    return []; // no folder, no ledgers
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
 * A ledger and its changes; null: it is not one. What stands behind the last line is a change that its broker did not live
 * to write, or that a full disk cut off: it has not happened.
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

function parsed<S extends z.ZodType>(schema: S, text: string): z.output<S> | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function moveAside(file: string): boolean {
  try {
    renameSync(file, `${file}.bad`);
    return true;
  } catch {
    return false; // somebody else was faster
  }
}
