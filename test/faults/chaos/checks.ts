import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { type LedgerContent, parseLedger } from '../../../src/broker/ledger/ledger-file.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { commandOf } from '../../support/e2e/process-tree.ts';
import type { Others } from './others.ts';
import { type ChaosService, runningSessions } from './service.ts';
import { LEDGERS } from './surroundings.ts';

/** Functions that list what a run has left, one line each. */

/** Returns sessions and pools that are not foreign, and of no request whose outcome nobody can know. */
export async function leftAtService(
  { client }: ChaosService,
  others: Others,
  doubted: readonly string[],
): Promise<string[]> {
  try {
    const sessions = await runningSessions(client);
    const pools = await client.listPools();
    return [
      ...sessions.flatMap(({ sessionId, note }) =>
        others.sessions.has(sessionId) || doubted.some((request) => note.includes(`req=${request} `))
          ? []
          : `session ${sessionId} (${note})`,
      ),
      ...pools.flatMap(({ name }) => (others.pools.has(name) ? [] : `pool ${name}`)),
    ];
  } catch (error) {
    return [`not known: ${String(error)}`]; // a fault made the call fail
  }
}

/**
 * Returns ledgers of runs in a directory, and other files that look like ledgers.
 * @param mayDoubt whether one may stay that has only requests with an unknown outcome: of a provider, whose list shows
 *   it later, or never
 */
export function leftLedgers(consumer: Consumer, mayDoubt: boolean): string[] {
  return ledgersIn(consumer).flatMap(({ name, entries }) =>
    mayDoubt && entries?.every(({ sessionId }) => !sessionId) ? [] : `ledger ${name}`,
  );
}

/** Returns the requests whose outcome is unknown. */
export function doubtedRequests(consumer: Consumer): string[] {
  const entries = ledgersIn(consumer).flatMap((each) => each.entries ?? []);
  return entries.flatMap(({ request, sessionId }) => (sessionId ? [] : request));
}

function ledgersIn({ directory }: Consumer): { name: string; entries: LedgerContent['entries'] | undefined }[] {
  const ledgers = join(directory, LEDGERS);
  if (!existsSync(ledgers)) return [];
  const names = readdirSync(ledgers).filter((name) => name.includes('.ledger.json'));
  return names.map((name) => ({ name, entries: parseLedger(readFileSync(join(ledgers, name), 'utf8'))?.entries }));
}

/** Returns browsers and directories of emulators: of one process, or all in a temporary directory. */
export function leftOfEmulators(temporary: string, emulator: number | null): string[] {
  const directories = readdirSync(temporary).filter((name) => {
    return name.startsWith('poolwright-emulator-') && (emulator === null || name.includes(`-${emulator}-`));
  });
  return [...browsersIn(temporary, emulator), ...directories.map((name) => `directory ${name}`)];
}

/** Returns Chromiums with a profile in a temporary directory. */
export function browsersIn(temporary: string, emulator: number | null): string[] {
  const profile = new RegExp(`${temporary}/poolwright-emulator-\\w+-${emulator ?? '\\d+'}-`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => profile.test(commandOf(pid)))
    .map((pid) => `browser ${pid}`);
}

/** Returns contexts of runs in browsers that run already, and pages in addition to the first one. */
export async function leftInBrowsers(addresses: readonly string[]): Promise<string[]> {
  const left = await Promise.all(
    addresses.map(async (address, index) => {
      const browser = await chromium.connectOverCDP(address);
      try {
        const session = await browser.newBrowserCDPSession();
        const { browserContextIds } = await session.send('Target.getBrowserContexts');
        const { targetInfos } = await session.send('Target.getTargets');
        const pages = targetInfos.filter(({ type }) => type === 'page').slice(1);
        return [
          ...browserContextIds.map((id) => `context ${id} in browser ${index}`),
          ...pages.map(({ url }) => `page ${url} in browser ${index}`),
        ];
      } finally {
        await browser.close();
      }
    }),
  );
  return left.flat();
}

/** Returns directories of brokers' sockets. */
export function leftSockets(temporary: string): string[] {
  return readdirSync(temporary)
    .filter((name) => /^poolwright-\w{6}$/.test(name))
    .map((name) => `directory ${name}`);
}

/** Returns sessions whose end is unconfirmed according to a completed run's record. */
export async function unconfirmed(consumer: Consumer): Promise<string[]> {
  let record: { endedAt: string | null; sessions: { sessionId: string; endConfirmed: boolean | null }[] };
  try {
    record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
  } catch {
    return []; // it died before it could write a record, or the disk was full
  }
  if (record.endedAt === null) return []; // it died before its final record
  // Null for sessions of a dead broker: its ledger decides about them.
  return record.sessions
    .filter(({ endConfirmed }) => endConfirmed === false)
    .map(({ sessionId }) => `session ${sessionId}: its end is not confirmed`);
}
