import { ok } from 'node:assert/strict';
import {
  existsSync,
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
import type { Log } from '../../../../src/broker/process/log.ts';
import { Ledger, type LedgerOwner } from '../../../../src/broker/recovery/ledger.ts';
import { parseLedger } from '../../../../src/broker/recovery/ledger-file.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

interface Fixtures {
  parent: string;
  /** Directory of the ledger. It does not exist yet. */
  folder: string;
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
  folder: async ({ parent }, use) => use(join(parent, 'ledgers')),
  owner: async ({ folder }, use) => {
    const content = { runId: 'r1', mark: 'aaaa', baseURL: 'x', workspace: 'w', place: null, socket: 's' };
    await use({ folder, content });
  },
  said: async ({}, use) => use([]),
  log: async ({ said }, use) => {
    const say = (text: string) => void said.push(text);
    await use({ info: () => undefined, notice: say, once: say, momentary: say, error: say });
  },
});

const got = (sessionId: string) => ({ sessionId, leaseId: null, poolId: null });

function fileIn(folder: string): string {
  return join(folder, readdirSync(folder)[0] ?? '');
}

function content(folder: string) {
  const [name, ...more] = readdirSync(folder);
  expect(more).toEqual([]);
  return parseLedger(readFileSync(join(folder, name ?? ''), 'utf8'));
}

test('a full disk leaves no incomplete ledger', ({ folder, owner, log, said }) => {
  test.skip(!existsSync('/dev/full'), 'no disk that is always full here');
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  const [name = ''] = readdirSync(folder);
  rmSync(join(folder, name));
  symlinkSync('/dev/full', join(folder, name));
  symlinkSync('/dev/full', join(folder, `${name}.tmp`));
  ledger.got('aaaa-1', got('s-1'));
  expect(said).toEqual([expect.stringContaining('cannot be written')]);
  expect(readdirSync(folder)).toEqual([name]);
  ledger.got('aaaa-1', got('s-1'));
  expect(content(folder)).toMatchObject({ entries: [{ sessionId: 's-1' }] });
});

test('rewrites a ledger that was removed while its broker is alive', ({ folder, owner, log, said }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  rmSync(folder, { recursive: true });
  ledger.asked('aaaa-2', null);
  expect(content(folder)).toMatchObject({ entries: [{ request: 'aaaa-1' }, { request: 'aaaa-2' }] });
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
    const folder = join(parent, `history-${histories}`);
    let time = 0;
    const ledger = new Ledger({ ...owner, folder }, log, () => (time += 1));
    ledger.poolAsked('first'); // so that the file exists throughout
    const states = [content(folder)];
    const bytesBefore = readFileSync(fileIn(folder)).length;
    for (const { do: act, name } of steps) {
      if (act === 'got') ledger.got(name, got(`s-${time}`));
      else if (act === 'asked') ledger.asked(name, null);
      else ledger[act](name);
      states.push(content(folder));
    }
    const file = readFileSync(fileIn(folder));
    const size = bytesBefore + (where % (file.length - bytesBefore + 1));
    const found = parseLedger(file.subarray(0, size).toString());
    ok(states.some((state) => isDeepStrictEqual(state, found)));
    rmSync(folder, { recursive: true });
  });
  fc.assert(cut, propertyRuns(300));
});

test('the ledger stays small and correct, however many browsers a run requests', ({ folder, owner, log }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-0', null);
  for (let n = 1; n <= 2_000; n += 1) {
    ledger.asked(`aaaa-${n}`, null);
    ledger.got(`aaaa-${n}`, got(`s-${n}`));
    ledger.settled(`aaaa-${n - 1}`);
  }
  expect(content(folder)).toMatchObject({ entries: [{ request: 'aaaa-2000', sessionId: 's-2000' }] });
  expect(statSync(fileIn(folder)).size).toBeLessThan(250_000);
});

test('logs a failed write once, and the next successful write contains everything', ({ folder, owner, log, said }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, ''); // a mode would not keep root from writing
  ledger.got('aaaa-1', got('s-1'));
  ledger.asked('aaaa-2', null);
  ledger.poolAsked('p');
  expect(said).toEqual([expect.stringContaining('cannot be written')]);

  rmSync(folder);
  ledger.got('aaaa-2', got('s-2'));
  expect(content(folder)).toMatchObject({ pools: ['p'], entries: [{ sessionId: 's-1' }, { sessionId: 's-2' }] });
  expect(said).toEqual([expect.anything(), expect.stringContaining('can be written again')]);
  ledger.settled('aaaa-1');
  expect(said).toHaveLength(2);
});

test('retries a failed write without a further change', async ({ folder, owner, log, said }) => {
  writeFileSync(folder, '');
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  rmSync(folder);
  await expect.poll(() => said).toHaveLength(2);
  expect(content(folder)).toMatchObject({ entries: [{ request: 'aaaa-1' }] });
});

test('retries a failed removal, so that the ledger names no ended browser', ({ folder, owner, log }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  const [name = ''] = readdirSync(folder);
  rmSync(join(folder, name));
  mkdirSync(join(folder, name));
  ledger.settled('aaaa-1');
  ledger.beat();
  rmSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name), '{}');
  ledger.beat();
  expect(readdirSync(folder)).toEqual([]);
});

test('removes the incomplete file of a full disk together with the ledger', ({ folder, owner, log }) => {
  const ledger = new Ledger(owner, log);
  ledger.asked('aaaa-1', null);
  const [name = ''] = readdirSync(folder);
  writeFileSync(join(folder, `${name}.tmp`), '{');
  ledger.settled('aaaa-1');
  expect(readdirSync(folder)).toEqual([]);
});

test("beats use the service's clock", ({ folder, owner, log }) => {
  const ledger = new Ledger(owner, log, () => Date.UTC(2026, 10, 21));
  ledger.asked('aaaa-1', null);
  expect(content(folder)).toMatchObject({ beatAt: '2026-11-21T00:00:00.000Z' });
});
