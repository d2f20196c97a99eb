import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { type ModuleOptions, openModule } from '../../../../src/providers/module/module-process.ts';
import type { CheckedProvider } from '../../../../src/providers/provider-calls.ts';
import { moduleScript } from '../../../support/unit/providers/module-script.ts';

/** A provider whose code blocks, exits, throws, prints, allocates or never responds: this process goes on. */

interface Opened {
  provider: CheckedProvider;
  notes: string[];
  /** What the module has written down, over all of its processes. */
  log(): string[];
}

const test = base.extend<{ open(text: string, options?: ModuleOptions): Promise<Opened> }>({
  open: async ({}, use, { outputDir }) => {
    const opened: CheckedProvider[] = [];
    await use(async (text, options = {}) => {
      mkdirSync(outputDir, { recursive: true });
      const [file, journal] = [join(outputDir, 'browsers.mjs'), join(outputDir, 'journal')];
      writeFileSync(journal, '');
      writeFileSync(
        file,
        `import { appendFileSync } from 'node:fs';
        const log = (line) => appendFileSync(${JSON.stringify(journal)}, line + '\\n');
        const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
        const browser = (id) => ({ id, cdpUrl: 'ws://x' });
        log('loaded ' + process.pid);
        ${text}`,
      );
      const notes: string[] = [];
      const script = await moduleScript(outputDir);
      const provider = await openModule(file, (note) => notes.push(note), { script, ...options });
      opened.push(provider);
      return { provider, notes, log: () => readFileSync(journal, 'utf8').split('\n').filter(Boolean) };
    });
    for (const provider of opened) await provider.close?.();
  },
});

const NEVER = new AbortController().signal;
const REQUEST = { label: 'l', project: 'p', needMs: 5, signal: NEVER };
const RELEASE = 'async release(id, reason) { log(`released ${id} ${reason}`); }';

test('passes arguments, results, dates and errors on, and the abort of a call', async ({ open }) => {
  const { provider } = await open(`export default {
    async acquire({ label, project, needMs, signal }) {
      if (label === 'refused') throw Object.assign(new Error('full'), { code: 'CAPACITY', retryAfterMs: 7 });
      if (label === 'waits') await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)));
      return { id: [label, project, needMs].join(), cdpUrl: 'ws://x', expiresAt: new Date(0), secret: () => 1 };
    },
    ${RELEASE},
    usage: async (id) => id.length,
  };`);
  expect(await provider.acquire(REQUEST)).toEqual({
    id: 'l,p,5',
    cdpUrl: 'ws://x',
    expiresAt: new Date(0).toISOString(),
  });
  expect([provider.list, provider.limit, await provider.usage?.('four')]).toEqual([undefined, undefined, 4]);
  await expect(provider.acquire({ ...REQUEST, label: 'refused' })).rejects.toMatchObject({
    message: 'full',
    code: 'CAPACITY',
    retryAfterMs: 7,
  });
  const givenUp = new AbortController();
  const waits = provider.acquire({ ...REQUEST, label: 'waits', signal: givenUp.signal });
  givenUp.abort();
  await expect(waits).rejects.toThrow('not needed any more');
});

test('a file without a provider is one error', async ({ open }) => {
  await expect(open('export default {};')).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining('browsers.mjs must have `export default'),
  });
  await expect(open('process.exit(4);')).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining('browsers.mjs ended its process (exit code 4) while it was loaded'),
  });
  await expect(open('block(60_000);', { loadMs: 2_000 })).rejects.toThrow('browsers.mjs did not load within 2 s');
});

test('a function that exits: its call fails with its name, and the next call gets another process', async ({
  open,
}) => {
  const { provider, log } = await open(`export default {
    acquire: async ({ label }) => (label === 'l' ? process.exit(3) : browser('b')),
    ${RELEASE},
  };`);
  await expect(provider.acquire(REQUEST)).rejects.toThrow('`acquire` ended its process (exit code 3)');
  expect(await provider.acquire({ ...REQUEST, label: 'again' })).toMatchObject({ id: 'b' });
  expect(log().filter((line) => line.startsWith('loaded'))).toHaveLength(2);
});

test('a function that blocks: other calls wait for it, and it is ended after a time', async ({ open }) => {
  const text = `export default {
    async acquire({ needMs }) { block(needMs); return browser('b'); },
    ${RELEASE},
  };`;
  const { provider, log } = await open(text, { blockedMs: { waiting: 10_000, alone: 100_000 } });
  const blocks = provider.acquire({ ...REQUEST, needMs: 1_500 });
  await Promise.all([blocks, provider.release('a', 'finished')]);
  expect(log()).toContain('released a finished');
  const forever = provider.acquire({ ...REQUEST, needMs: 600_000 });
  const released = provider.release('c', 'finished');
  await expect(forever).rejects.toThrow(/`acquire` blocked its process for \d+ s/);
  await expect(released).rejects.toThrow(/`acquire` blocked its process for \d+ s/);
  await provider.release('c', 'finished');
  expect(log()).toContain('released c finished');
});

test('a function that blocks while no other call waits gets more time, and is ended, too', async ({ open }) => {
  const text = `export default {
    async acquire({ needMs }) { block(needMs); return browser('b'); },
    ${RELEASE},
  };`;
  const { provider } = await open(text, { blockedMs: { waiting: 1_000, alone: 4_000 } });
  expect(await provider.acquire({ ...REQUEST, needMs: 2_500 })).toMatchObject({ id: 'b' });
  // Nothing that it does can move the limit: it is measured here.
  const forever = provider.acquire({ ...REQUEST, needMs: 600_000 });
  await expect(forever).rejects.toThrow('`acquire` blocked its process for 4 s');
  expect(await provider.acquire(REQUEST)).toMatchObject({ id: 'b' });
});

test('a function that uses up the memory: its call fails with its name and the cause, and the next one works', async ({
  open,
}) => {
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = '--max-old-space-size=48';
  try {
    const { provider, log } = await open(`export default {
      async acquire({ label }) {
        for (const eaten = []; label === 'l'; ) eaten.push(Array.from({ length: 1_000 }, (_, n) => ({ n })));
        return browser('b');
      },
      ${RELEASE},
    };`);
    await expect(provider.acquire(REQUEST)).rejects.toThrow(
      '`acquire` ended its process (SIGABRT, perhaps out of memory)',
    );
    expect(await provider.acquire({ ...REQUEST, label: 'again' })).toMatchObject({ id: 'b' });
    expect(log().filter((line) => line.startsWith('loaded'))).toHaveLength(2);
  } finally {
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
  }
});

test('what it throws outside of its functions is a note, what it prints goes elsewhere, and garbage is an error', async ({
  open,
}) => {
  const { provider, notes } = await open(`process.send?.({ is: 'done', call: 1 }); export default {
    async acquire({ label }) {
      console.log('x'.repeat(1_000_000));
      setTimeout(() => { throw new Error('STRAY'); }, 0);
      if (label === 'big') return 10n;
      if (label === 'deep') { const own = {}; own.id = own; return own; }
      await new Promise((resolve) => setTimeout(resolve, 50));
      return browser('b');
    },
    ${RELEASE},
    list: async () => 'y'.repeat(20_000_000),
  };`);
  expect(await provider.acquire(REQUEST)).toMatchObject({ id: 'b' });
  expect(notes).toContainEqual('browsers.mjs failed outside of its functions: STRAY');
  for (const label of ['big', 'deep'])
    await expect(provider.acquire({ ...REQUEST, label })).rejects.toThrow(/JSON|BigInt|circular/i);
  await expect(provider.list?.()).rejects.toThrow('`list` returned more than 10000000 characters');
});

test('a process that is killed: the call fails, and the module goes on in another one', async ({ open }) => {
  const { provider, log } = await open(`export default {
    acquire: () => { log('acquiring'); return new Promise(() => setInterval(() => {}, 1000)); },
    ${RELEASE},
  };`);
  const acquired = provider.acquire(REQUEST);
  acquired.catch(() => undefined);
  await expect.poll(log, { timeout: 20_000 }).toContain('acquiring');
  process.kill(Number(/loaded (\d+)/.exec(log().join('\n'))?.[1]), 'SIGKILL');
  await expect(acquired).rejects.toThrow('`acquire` ended its process (SIGKILL, perhaps out of memory)');
  await provider.release('b', 'lost');
  expect(log()).toContain('released b lost');
});

test('when its parent closes it, it releases what is in no ledger, and what still comes', async ({ open }) => {
  const { provider, log } = await open(`export default {
    async acquire({ label, signal }) {
      if (label === 'late') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return browser(label);
    },
    ${RELEASE},
  };`);
  for (const label of ['kept', 'released', 'left']) await provider.acquire({ ...REQUEST, label });
  provider.kept?.('kept');
  await provider.release('released', 'finished');
  provider.acquire({ ...REQUEST, label: 'late' }).catch(() => undefined);
  await provider.release('x', 'finished');
  await provider.close?.();
  expect(log().slice(1).sort()).toEqual([
    'released late left-over',
    'released left left-over',
    'released released finished',
    'released x finished',
  ]);
});
