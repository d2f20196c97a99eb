import { ok } from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { test as base, expect } from '@playwright/test';
import fc from 'fast-check';
import { Ledger, type LedgerOwner } from '../../../../src/broker/ledger/ledger.ts';
import { parseLedger } from '../../../../src/broker/ledger/ledger-file.ts';
import type { Log } from '../../../../src/broker/log/log.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { requires } from '../../../support/requires.ts';

interface Fixtures {
  parent: string;
  /** Directory of the ledger. It does not exist yet. */
  directory: string;
  owner: LedgerOwner;
  said: string[];
  log: Log;
}

const test = base.extend<Fixtures>({
  parent: async ({}, use) => {
    const parent = mkdtempSync(join(tmpdir(), 'ledger-test-'));
    await use(parent);
    rmSync(parent, { recursive: true, force: true });
  },
  directory: async ({ parent }, use) => use(join(parent, 'ledgers')),
  owner: async ({ directory }, use) => {
    const content = { runId: 'r1', mark: 'aaaa', baseURL: 'x', workspace: 'w', place: null, socket: 's' };
    await use({ directory, content });
  },
  said: async ({}, use) => use([]),
  log: async ({ said }, use) => {
    const say = (text: string) => void said.push(text);
    await use({ info: () => undefined, notice: say, once: say, momentary: say, error: say });
  },
});

const got = (sessionId: string) => ({ sessionId, leaseId: null, poolId: null });

function fileIn(directory: string): string {
  return join(directory, readdirSync(directory)[0] ?? '');
}

function content(directory: string) {
  const [name, ...more] = readdirSync(directory);
  expect(more).toEqual([]);
  return parseLedger(readFileSync(join(directory, name ?? ''), 'utf8'));
}

test('a full disk leaves no incomplete ledger', ({ directory, owner, log, said }) => {
  requires('Linux');
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  const [name = ''] = readdirSync(directory);
  rmSync(join(directory, name));
  symlinkSync('/dev/full', join(directory, name));
  symlinkSync('/dev/full', join(directory, `${name}.tmp`));
  ledger.got('aaaa-1', got('s-1'));
  expect(said).toEqual([expect.stringContaining('cannot be written')]);
  expect(readdirSync(directory)).toEqual([name]);
  ledger.got('aaaa-1', got('s-1'));
  expect(content(directory)).toMatchObject({ entries: [{ sessionId: 's-1' }] });
});

test('rewrites a ledger that was removed while its broker is alive', ({ directory, owner, log, said }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  rmSync(directory, { recursive: true });
  ledger.asked('aaaa-2', null);
  expect(content(directory)).toMatchObject({ entries: [{ request: 'aaaa-1' }, { request: 'aaaa-2' }] });
  expect(said).toEqual([]);
});

test('wherever a crash or a full disk truncates it, a ledger has the state after one of its changes', ({
  parent,
  owner,
  log,
}) => {
  const request = fc.nat(5).map((n) => `aaaa-${n}`);
  const step = fc.oneof(
    fc.record({ do: fc.constantFrom('asked' as const, 'got' as const, 'settled' as const), name: request }),
    fc.record({ do: fc.constantFrom('poolAsked' as const, 'poolGone' as const), name: fc.constantFrom('p', 'ä"\\n') }),
    fc.constant({ do: 'beat' as const, name: '' }),
  );
  let histories = 0;
  const cut = fc.property(fc.array(step, { maxLength: 30 }), fc.nat(), (steps, where) => {
    histories += 1;
    const directory = join(parent, `history-${histories}`);
    let time = 0;
    const ledger = new Ledger({ ...owner, directory }, log, () => (time += 1));
    ledger.poolAsked('first'); // so that the file exists throughout
    const states = [content(directory)];
    const bytesBefore = readFileSync(fileIn(directory)).length;
    for (const { do: act, name } of steps) {
      if (act === 'got') ledger.got(name, got(`s-${time}`));
      else if (act === 'asked') ledger.asked(name, null);
      else ledger[act](name);
      states.push(content(directory));
    }
    const file = readFileSync(fileIn(directory));
    const size = bytesBefore + (where % (file.length - bytesBefore + 1));
    const found = parseLedger(file.subarray(0, size).toString());
    ok(states.some((state) => isDeepStrictEqual(state, found)));
    rmSync(directory, { recursive: true });
  });
  fc.assert(cut, propertyRuns(300));
});

test('the ledger stays small and correct, however many browsers a run requests', ({ directory, owner, log }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-0', null);
  for (let n = 1; n <= 2_000; n += 1) {
    ledger.asked(`aaaa-${n}`, null);
    ledger.got(`aaaa-${n}`, got(`s-${n}`));
    ledger.settled(`aaaa-${n - 1}`);
  }
  expect(content(directory)).toMatchObject({ entries: [{ request: 'aaaa-2000', sessionId: 's-2000' }] });
  expect(statSync(fileIn(directory)).size).toBeLessThan(250_000);
});

test('logs a failed write once, and the next successful write contains everything', ({
  directory,
  owner,
  log,
  said,
}) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  rmSync(directory, { recursive: true });
  writeFileSync(directory, ''); // a mode would not keep root from writing
  ledger.got('aaaa-1', got('s-1'));
  ledger.asked('aaaa-2', null);
  ledger.poolAsked('p');
  expect(said).toEqual([expect.stringContaining('cannot be written')]);

  rmSync(directory);
  ledger.got('aaaa-2', got('s-2'));
  expect(content(directory)).toMatchObject({ pools: ['p'], entries: [{ sessionId: 's-1' }, { sessionId: 's-2' }] });
  expect(said).toEqual([expect.anything(), expect.stringContaining('can be written again')]);
  ledger.settled('aaaa-1');
  expect(said).toHaveLength(2);
});

test('retries a failed write without a further change', ({ directory, owner, log, said }) => {
  writeFileSync(directory, '');
  const retries: (() => void)[] = [];
  const later = (back: () => void) => {
    retries.push(back);
    return () => undefined;
  };
  const ledger = new Ledger(owner, log, Date.now, later);
  ledger.asked('aaaa-1', null);
  rmSync(directory);
  retries.pop()?.();
  expect(said).toHaveLength(2);
  expect(content(directory)).toMatchObject({ entries: [{ request: 'aaaa-1' }] });
});

test('retries a failed removal, so that the ledger names no ended browser', ({ directory, owner, log }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  const [name = ''] = readdirSync(directory);
  rmSync(join(directory, name));
  mkdirSync(join(directory, name));
  ledger.settled('aaaa-1');
  ledger.beat();
  rmSync(join(directory, name), { recursive: true });
  writeFileSync(join(directory, name), '{}');
  ledger.beat();
  expect(readdirSync(directory)).toEqual([]);
});

test('removes the incomplete file of a full disk together with the ledger', ({ directory, owner, log }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  const [name = ''] = readdirSync(directory);
  writeFileSync(join(directory, `${name}.tmp`), '{');
  ledger.settled('aaaa-1');
  expect(readdirSync(directory)).toEqual([]);
});

test("beats use the service's clock", ({ directory, owner, log }) => {
  const ledger = new Ledger(owner, log, () => Date.UTC(2026, 10, 21));
  ledger.asked('aaaa-1', null);
  expect(content(directory)).toMatchObject({ beatAt: '2026-11-21T00:00:00.000Z' });
});
