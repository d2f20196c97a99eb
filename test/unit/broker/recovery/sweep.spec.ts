import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { sessionNote } from '../../../../src/broker/browsers/session-note.ts';
import { workspaceOf } from '../../../../src/broker/ledger/workspace.ts';
import { RunSweep } from '../../../../src/broker/recovery/run-sweep.ts';
import { type SweepOptions, sweep } from '../../../../src/broker/recovery/sweep.ts';
import { systemIdentity } from '../../../../src/broker/recovery/system-identity.ts';
import { requiresFound } from '../../../support/requires.ts';
import { hosted } from '../../../support/unit/broker/broker-parts.ts';
import { ScriptedWorkspace } from '../../../support/unit/broker/scripted-workspace.ts';

const BASE_URL = 'https://service.test';
const WORKSPACE = workspaceOf({ baseURL: BASE_URL, apiKey: 'key-0123456789' });
const SUITE = 'c0ffee';
const MINUTE_MS = 60_000;

/** The service's clock: more than an hour ahead of this machine's. */
const AHEAD_MS = 77 * MINUTE_MS;
const serviceNow = () => Date.now() + AHEAD_MS;

interface Fixtures {
  directory: string;
  workspace: ScriptedWorkspace;
  options: SweepOptions;
}

const test = base.extend<Fixtures>({
  directory: async ({}, use) => {
    const directory = mkdtempSync(join(tmpdir(), 'sweep-test-'));
    await use(directory);
    chmodSync(directory, 0o700);
    rmSync(directory, { recursive: true, force: true });
  },
  workspace: async ({}, use) => use(new ScriptedWorkspace(serviceNow)),
  options: async ({ directory, workspace }, use) =>
    use({ provider: hosted(workspace.client), workspace: WORKSPACE, suite: SUITE, ledgerDirectory: directory }),
});

const minutesAgo = (minutes: number) => new Date(serviceNow() - minutes * MINUTE_MS);

function note(runId: string, mark: string, beat: Date): string {
  const fields = { runId, shard: null, project: '', slot: 0, request: `${mark}-1`, suite: SUITE, beat };
  return sessionNote(fields, undefined);
}

/** A ledger with one session, as written by a broker on another machine. */
function writeLedger(directory: string, more: Record<string, unknown>, sessionId: string | null): string {
  const { runId = 'r1', mark = 'aaaa' } = more;
  const file = join(directory, `${runId}-${mark}.ledger.json`);
  const content = {
    schema: 1,
    runId,
    mark,
    ...WORKSPACE,
    host: hostname(),
    place: systemIdentity(),
    socket: join(tmpdir(), 'poolwright-nobody', 'broker.sock'),
    beatAt: minutesAgo(3).toISOString(),
    pools: [],
    entries: [{ request: `${mark}-1`, poolId: null, leaseId: null, sessionId }],
    ...more,
  };
  writeFileSync(file, JSON.stringify(content));
  return file;
}

test('does not claim again what an earlier sweep has ended, where the ledger stays', async ({
  directory,
  workspace,
  options,
}) => {
  const { sessionId } = workspace.create(note('r1', 'aaaa', minutesAgo(30)));
  const entry = { poolId: null, leaseId: null };
  const entries = [
    { ...entry, request: 'aaaa-1', sessionId },
    { ...entry, request: 'aaaa-2', sessionId: null },
  ];
  const file = writeLedger(directory, { entries }, null);
  appendFileSync(file, '\n');
  // A provider without a list: what became of the second request is never known.
  const provider = Object.assign(hosted(workspace.client), { unlistedMs: Number.POSITIVE_INFINITY });
  const first = await sweep({ ...options, provider });
  expect(first.stopped).toEqual([{ sessionId, runId: 'r1' }]);
  const second = await sweep({ ...options, provider });
  expect(second.stopped).toEqual([]);
  for (const { unknownBrowsers, failures } of [first, second])
    expect([unknownBrowsers.map(({ request }) => request), failures]).toEqual([['aaaa-2'], []]);
  expect(readdirSync(directory)).toEqual([basename(file)]);
});

test.describe('which run is dead', () => {
  test('a broker reported dead by its runner is dead without a ledger: sweeps its sessions and pools, and no others', async ({
    workspace,
    options,
  }) => {
    const dead = workspace.create(note('r1', 'dead', minutesAgo(0)));
    const others = [
      workspace.create(note('r1', 'aliv', minutesAgo(0))),
      workspace.create(note('r2', 'dead', minutesAgo(0))),
    ];
    const name = (mark: string) => ({ id: `id-${mark}`, name: `poolwright-${SUITE}-r1-${mark}-1` });
    workspace.pools.push(name('dead'), name('aliv'), { id: 'theirs', name: 'dead-1' });
    const swept = await sweep({
      ...options,
      deadBrokers: [{ runId: 'r1', mark: 'dead' }],
      self: { mark: 'aliv', socket: '' },
    });
    expect(swept).toMatchObject({ stopped: [{ sessionId: dead.sessionId }], failures: [] });
    expect(swept.poolsDeleted).toEqual([name('dead').name]);
    expect(workspace.running).toEqual(others.map(({ sessionId }) => sessionId));
    expect(workspace.pools.map(({ id }) => id)).toEqual(['id-aliv', 'theirs']);
  });

  for (const word of ['--run', 'the CI'] as const) {
    test(`identifies the pools of a run that ${word} declares dead by their names, and deletes no others`, async ({
      directory,
      workspace,
      options,
    }) => {
      const named = (name: string) => ({ id: `id-${name}`, name });
      const [theirs, another, living] = [
        named(`poolwright-${SUITE}-r10-dead-1`),
        named(`poolwright-000000-r1-dead-1`),
        named(`poolwright-${SUITE}-r1-aliv-1`),
      ];
      const dead = [named(`poolwright-${SUITE}-r1-dead-1`), named(`poolwright-${SUITE}-r1-gone-12`)];
      workspace.pools.push(theirs, ...dead, another, named(`poolwright-${SUITE}-r1-2-dead-1`), living);
      // Its ledger is here and shows that it is alive; the user's declaration overrides this.
      const { sessionId } = workspace.create(null);
      writeLedger(directory, { mark: 'aliv', place: 'elsewhere', pools: [living.id] }, sessionId);
      const swept = await sweep({ ...options, ...(word === '--run' ? { runId: 'r1' } : { overRuns: ['r1'] }) });
      expect(swept.failures).toEqual([]);
      expect(swept.poolsDeleted.sort()).toEqual([...dead, living].map(({ name }) => name).sort());
      expect(workspace.pools.map(({ name }) => name)).toEqual([
        theirs.name,
        another.name,
        `poolwright-${SUITE}-r1-2-dead-1`,
      ]);
    });
  }

  test('a container with the same host name has different sockets: its beat counts', async ({
    directory,
    workspace,
    options,
  }) => {
    const { sessionId } = workspace.create(null);
    writeLedger(directory, { place: 'another-boot pid:[1] mnt:[2] 1:2' }, sessionId);
    expect(await sweep(options)).toMatchObject({ stopped: [], failures: [] });
    expect(workspace.running).toEqual([sessionId]);

    writeLedger(
      directory,
      { place: 'another-boot pid:[1] mnt:[2] 1:2', beatAt: minutesAgo(25).toISOString() },
      sessionId,
    );
    expect(await sweep(options)).toMatchObject({ stopped: [{ sessionId }] });
  });

  test('judges by the beat on a machine without a system identity', async ({ directory, workspace, options }) => {
    const { sessionId } = workspace.create(null);
    writeLedger(directory, { place: null }, sessionId);
    await sweep(options);
    expect(workspace.running).toEqual([sessionId]);
  });

  test('in the same place, a broker without its socket is dead, whatever its beat', async ({
    directory,
    workspace,
    options,
  }) => {
    requiresFound('a system with an identity', systemIdentity() !== null);
    const { sessionId } = workspace.create(null);
    writeLedger(directory, {}, sessionId);
    expect(await sweep(options)).toMatchObject({ stopped: [{ sessionId }] });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a machine's wrong clock makes no broker dead: beats are compared with the service's clock", async ({
    workspace,
    options,
  }) => {
    const { sessionId } = workspace.create(note('r1', 'aaaa', minutesAgo(3)));
    const silent = workspace.create(note('r2', 'bbbb', minutesAgo(25)));
    const result = await sweep(options);
    expect(result.stopped).toEqual([{ sessionId: silent.sessionId, runId: 'r2' }]);
    expect(workspace.running).toEqual([sessionId]);
  });

  test('a broker that responds keeps its sessions, however old the beat in their notes', async ({
    directory,
    workspace,
    options,
  }) => {
    const socket = join(directory, 'broker.sock');
    const server = await listening(socket);
    try {
      const { sessionId } = workspace.create(note('r1', 'aaaa', minutesAgo(50)));
      writeLedger(directory, { socket }, sessionId);
      const result = await sweep(options);
      expect(result).toMatchObject({ stopped: [], alive: [{ sessionId, runId: 'r1' }] });
    } finally {
      server.close();
    }
  });

  test('a broker with an old ledger but new notes is alive', async ({ directory, workspace, options }) => {
    const { sessionId } = workspace.create(note('r1', 'aaaa', minutesAgo(2)));
    const file = writeLedger(directory, { place: 'elsewhere', beatAt: minutesAgo(50).toISOString() }, sessionId);
    expect((await sweep(options)).stopped).toEqual([]);
    expect(existsSync(file)).toBe(true);
  });

  test('without the list of sessions, silence makes no broker dead', async ({ directory, workspace, options }) => {
    const { sessionId } = workspace.create(note('r1', 'aaaa', minutesAgo(2)));
    writeLedger(directory, { place: 'elsewhere', beatAt: minutesAgo(50).toISOString() }, sessionId);
    workspace.failAt([0]);
    expect(await sweep(options)).toMatchObject({ stopped: [], failures: [expect.stringContaining('503')] });
    expect(workspace.running).toEqual([sessionId]);
  });

  test('a dead broker also owns sessions that its ledger had no room for', async ({
    directory,
    workspace,
    options,
  }) => {
    requiresFound('a system with an identity', systemIdentity() !== null);
    const first = workspace.create(note('r1', 'aaaa', minutesAgo(1)));
    const second = workspace.create(note('r1', 'aaaa', minutesAgo(1)));
    const other = workspace.create(note('r1', 'bbbb', minutesAgo(1))); // another shard of the run
    writeLedger(directory, {}, first.sessionId);
    expect((await sweep(options)).stopped.map(({ sessionId }) => sessionId)).toEqual([
      first.sessionId,
      second.sessionId,
    ]);
    expect(workspace.running).toEqual([other.sessionId]);
  });
});

test('sweep --run ends that run, and also what other dead runs left', async ({ directory, workspace, options }) => {
  const named = workspace.create(note('named', 'aaaa', minutesAgo(1)));
  workspace.create(note('silent', 'bbbb', minutesAgo(40)));
  const alive = workspace.create(note('alive', 'cccc', minutesAgo(1)));
  const leased = workspace.create(null, { leaseId: 'l-1', poolId: 'p-1' });
  const entries = [{ request: 'aaaa-2', poolId: 'p-1', leaseId: 'l-1', sessionId: leased.sessionId }];
  writeLedger(directory, { runId: 'named', place: 'elsewhere', entries }, named.sessionId);
  await sweep({ ...options, runId: 'named' });
  expect(workspace.running).toEqual([alive.sessionId]);
});

test('a failed sweep causes a warning in the run that started it, and does not end the run', async ({ options }) => {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const log = { info: say, notice: say, once: say, momentary: say, error: say };
  options.provider.now = () => {
    throw new Error('broken');
  };
  const sweeping = new RunSweep(options, log);
  expect(await sweeping.begin()).toEqual([expect.stringMatching(/^warning: .*broken/)]);
  await sweeping.end();
  expect(said).toEqual([expect.stringMatching(/^warning: .*broken/)]);
});

test('keeps a ledger until every browser in it is stopped', async ({ directory, workspace, options }) => {
  const { sessionId } = workspace.create(null);
  writeLedger(directory, { place: null, beatAt: minutesAgo(25).toISOString() }, sessionId);
  const { client } = workspace;
  const stop = client.stopSession.bind(client);
  client.stopSession = async () => {
    throw new Error('not now');
  };
  expect(await sweep(options)).toMatchObject({ stopped: [], failures: [expect.stringContaining(sessionId)] });
  client.stopSession = stop;
  expect(await sweep(options)).toMatchObject({ stopped: [{ sessionId }], failures: [] });
  expect(readdirSync(directory)).toEqual([]);
});

test.describe('one bad file does not stop a run', () => {
  test('reports a ledger that cannot be removed, and does everything else', async ({
    directory,
    workspace,
    options,
  }) => {
    requiresFound('a system with an identity', systemIdentity() !== null);
    const { sessionId } = workspace.create(null);
    const other = workspace.create(null);
    const first = writeLedger(directory, { runId: 'r1' }, sessionId);
    writeLedger(directory, { runId: 'r2', mark: 'bbbb' }, other.sessionId);
    // A mode would not keep root from removing a file; a directory in its place does.
    const { client } = workspace;
    const stop = client.stopSession.bind(client);
    client.stopSession = async (id, more) => {
      if (id === sessionId) {
        rmSync(first);
        mkdirSync(join(first, 'not-empty'), { recursive: true });
      }
      return await stop(id, more);
    };
    const result = await sweep(options);
    expect(result.stopped).toHaveLength(2);
    expect(result.failures).toEqual([expect.stringContaining(first)]);
    expect(readdirSync(directory)).toEqual(['r1-aaaa.ledger.json']);
  });

  test('a sweep does not remove a directory that a ledger names as a socket', async ({
    directory,
    workspace,
    options,
  }) => {
    requiresFound('a system with an identity', systemIdentity() !== null);
    const project = join(directory, 'poolwright-app');
    mkdirSync(project);
    writeFileSync(join(project, 'precious.txt'), '');
    const { sessionId } = workspace.create(null);
    writeLedger(directory, { socket: join(project, 'broker.sock') }, sessionId);
    expect((await sweep(options)).stopped).toHaveLength(1);
    expect(readdirSync(project)).toEqual(['precious.txt']);
  });

  test('an invalid socket and an invalid time', async ({ directory, workspace, options }) => {
    const { sessionId } = workspace.create(null);
    writeLedger(directory, { mark: 'a', socket: '' }, sessionId);
    writeLedger(directory, { mark: 'b', socket: '80' }, sessionId);
    writeLedger(directory, { mark: 'c', socket: 'x'.repeat(4_000) }, sessionId);
    const bad = writeLedger(directory, { mark: 'd', beatAt: 'yesterday' }, sessionId);
    mkdirSync(join(directory, 'directory.ledger.json'));
    const result = await sweep(options);
    expect(result.setAside).toEqual([`${bad}.bad`]);
    expect(result.failures).toEqual([]);
  });
});

async function listening(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}
