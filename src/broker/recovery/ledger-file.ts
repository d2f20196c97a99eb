import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { browserIdentity } from '../../common/browser-identity-schema.ts';

/** A ledger on disk: what one broker asked for and did not see ended. Holds no key and no `cdpUrl`. */

const ledgerEntry = z.object({
  /** `req=` of the session's note: unique, and chosen before the request goes out. */
  request: z.string(),
  poolId: browserIdentity.shape.poolId,
  leaseId: browserIdentity.shape.leaseId,
  /** Null while the request is unanswered. */
  sessionId: browserIdentity.shape.sessionId.nullable(),
});

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
  beatAt: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  /** Names of pools made for the run. */
  pools: z.array(z.string()),
  entries: z.array(ledgerEntry),
});

export type LedgerEntry = z.infer<typeof ledgerEntry>;
export type LedgerContent = z.infer<typeof ledgerContent>;

/** A ledger that was found. */
export interface FoundLedger {
  file: string;
  content: LedgerContent;
}

const EXTENSION = '.ledger.json';

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
  try {
    const parsed = ledgerContent.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
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
