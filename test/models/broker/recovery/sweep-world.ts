import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { noteFor, type RunIdentity } from '../../../../src/broker/browsers/session-note.ts';
import { Ledger } from '../../../../src/broker/ledger/ledger.ts';
import { type LedgerContent, parseLedger } from '../../../../src/broker/ledger/ledger-file.ts';
import type { Workspace } from '../../../../src/broker/ledger/workspace.ts';
import type { Log } from '../../../../src/broker/log/log.ts';
import { emptySweep, type SweepResult, sweep } from '../../../../src/broker/recovery/sweep.ts';
import { type RunService, sweptWorkspace } from '../../../../src/broker/run/run-service.ts';
import { leasePlan } from '../../../../src/options/lease-plan.ts';
import { HostedBrowsers } from '../../../../src/providers/hosted/hosted-browsers.ts';
import type { BrowserProvider } from '../../../../src/providers/port.ts';
import { ProvidedBrowsers } from '../../../../src/providers/provided-browsers.ts';
import type { Provider } from '../../../../src/providers/provider.ts';
import type { ServiceClient } from '../../../../src/service/index.ts';
import { type ScriptedSession, ScriptedWorkspace } from '../../../support/unit/broker/scripted-workspace.ts';
import { foreignLedger, foreignNote } from './foreign-things.ts';
import { checkClocks, checkGone, checkLedgers, checkTouched, checkUnknown } from './sweep-checks.ts';
import { type Eyes, judge, seenSessions } from './sweep-rules.ts';
import type { Step } from './sweep-steps.ts';

/**
 * The world of ledgers and sweeps: machines with their own clocks, brokers that start and die there, shared directories
 * that may fail, and one workspace.
 */

const SERVICE: RunService = {
  kind: 'hosted',
  baseURL: 'https://service.test',
  apiKey: 'key-0123456789',
};
const PROVIDER: RunService = { kind: 'provider', file: '/suite/browsers.ts' };
/** Where the runs of a history get their browsers. */
const SERVICES = {
  service: SERVICE,
  provider: PROVIDER,
  listless: PROVIDER,
  addresses: { kind: 'browsers', browsers: [{ url: 'ws://host.test', max: 5 }] },
} satisfies Record<string, RunService>;
/** Calls that list all browsers. */
const LIST_CALLS = { service: 2, provider: 1, listless: 0, addresses: 2 };
const SUITE = 'c0ffee';
const MINUTE_MS = 60_000;
const BEAT_MS = 5 * MINUTE_MS;
/** Start of every history, in ms since the epoch. */
const BEGUN = Date.UTC(2026, 10, 21);

/** A broker, alive or dead. */
interface Broker {
  run: RunIdentity & { now: () => number };
  machine: Machine;
  place: string | null;
  directory: number;
  socket: string;
  ledger: Ledger;
  alive: boolean;
  requests: number;
  /** Its sessions; unknown ones come from creates with a lost response. */
  held: { request: string; session: ScriptedSession; known: boolean }[];
  /** Requests without a confirmed end. */
  open: Set<string>;
  pools: string[];
  lastBeat: number;
}

interface Machine {
  boot: string;
  /** A host and its container; null: a system that does not report its identity. */
  views: (string | null)[];
  skewMs: number;
}

const PLAN = leasePlan({}, {});
const QUIET: Log = {
  info: () => undefined,
  notice: () => undefined,
  once: () => undefined,
  momentary: () => undefined,
  error: () => undefined,
};

/** The world of one history. */
export class World {
  /** The service's clock, in ms since the epoch. */
  private time = BEGUN;
  private readonly workspace = new ScriptedWorkspace(() => this.time);
  /** Whose browsers the runs leave; null: none, and sweeps are those of other runs of the project, on the service. */
  private readonly left: Workspace | null;
  private readonly ours: Workspace;
  private readonly provider: BrowserProvider;
  /** The first two share a host name, like a host and its container. */
  private readonly machines: Machine[] = [
    { boot: 'boot-a', views: ['host', 'container'], skewMs: 0 },
    { boot: 'boot-b', views: ['host'], skewMs: 0 },
    { boot: 'boot-c', views: [null], skewMs: 0 },
  ];
  private readonly brokers: Broker[] = [];
  private readonly broken = new Set<number>();
  private made = 0;
  /** Number of sessions that this history's sweeps have stopped. */
  stopped = 0;

  /**
   * @param root an empty directory, used by this history only
   * @param way how sweeps reach the workspace; a provider has no pools, its labels are not renewed, and it may have no
   * list
   */
  constructor(
    private readonly root: string,
    private readonly way: keyof typeof SERVICES,
  ) {
    this.left = sweptWorkspace(SERVICES[way]);
    this.ours = this.left ?? (sweptWorkspace(SERVICE) as Workspace);
    const { client } = this.workspace;
    this.provider = SERVICES[way].kind === 'provider' ? this.provided(client) : new HostedBrowsers(client);
  }

  /** The workspace's sessions as a provider's. */
  private provided(service: ServiceClient): ProvidedBrowsers {
    const provider: Provider = {
      acquire: async () => assert.fail('a sweep acquires nothing'),
      release: async (id) => {
        await service.stopSession(id).catch((error) => {
          if (error.status !== 404) throw error;
        });
      },
      ...(this.way === 'provider' && {
        list: async () => {
          const listed = [];
          for await (const { sessionId, note } of service.iterateSessions({ status: 'active' }))
            listed.push({ id: sessionId, label: note });
          return listed;
        },
      }),
    };
    return new ProvidedBrowsers(provider, 'browsers.ts', () => this.time);
  }

  /** Runs one step. @throws if the result is forbidden, or a required result is missing */
  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'start':
        return this.start(step);
      case 'ask':
        return this.ask(step);
      case 'end':
        return this.end(step);
      case 'pool':
        return this.pool(step);
      case 'pass':
        return this.pass(step);
      case 'expire':
        for (const session of at(this.workspace.sessions, step.which)) session.running = false;
        return;
      case 'crash':
        for (const broker of at(this.living, step.which)) broker.alive = false;
        return;
      case 'reboot':
        return this.reboot(step.which);
      case 'skew':
        for (const machine of at(this.machines, step.machine)) machine.skewMs = step.hours * 60 * MINUTE_MS;
        return;
      case 'disk':
        return this.disk(step.directory % 2, step.works);
      case 'junk':
        return this.junk(step.directory % 2, step.kind);
      case 'foreign':
        return this.foreign(step.note);
      case 'sweep':
        return await this.sweep(step);
    }
  }

  private get living(): Broker[] {
    return this.brokers.filter(({ alive }) => alive);
  }

  private get places(): { machine: Machine; place: string | null }[] {
    return this.machines.flatMap((machine) =>
      machine.views.map((view) => ({ machine, place: view && `${machine.boot} ${view}` })),
    );
  }

  /** Does something on a machine, by its clock. */
  private on<T>(machine: Machine, act: () => T): T {
    mock.timers.setTime(this.time + machine.skewMs);
    return act();
  }

  private start({ place, directory, sameRun }: Step & { do: 'start' }): void {
    const [where] = at(this.places, place);
    if (!where || this.brokers.length === 6) return;
    this.made += 1;
    const last = this.brokers.at(-1);
    const runId = sameRun && last ? last.run.runId : `run-${this.made}`; // another shard of it
    const run = { runId, shard: null, suite: SUITE, mark: `mark${this.made}`, now: () => this.time };
    const socket = `/tmp/socket-${this.made}`;
    const content = { runId, mark: run.mark, socket, place: where.place };
    const owner = this.left && { directory: this.path(directory % 2), content: { ...content, ...this.left } };
    this.brokers.push({
      ...where,
      run,
      directory: directory % 2,
      socket,
      ledger: new Ledger(owner, QUIET, run.now, () => () => undefined), // `disk` retries
      alive: true,
      requests: 0,
      held: [],
      open: new Set(),
      pools: [],
      lastBeat: this.time,
    });
  }

  private ask(asked: Step & { do: 'ask' }): void {
    for (const broker of at(this.living, asked.run)) this.on(broker.machine, () => this.request(broker, asked));
  }

  private request(broker: Broker, { pool, outcome, noted }: Step & { do: 'ask' }): void {
    const { run, ledger, held, open } = broker;
    const isPool = pool && this.way === 'service';
    broker.requests += 1;
    const request = `${run.mark}-${broker.requests}`;
    const poolId = isPool ? 'pool-1' : null;
    const leaseId = isPool ? `l-${request}` : null;
    ledger.asked(request, poolId);
    if (outcome === 'refused') ledger.settled(request);
    else open.add(request);
    if (outcome === 'refused' || outcome === 'lost') return;
    // A lease of an address is nowhere but in its broker.
    if (this.way === 'addresses')
      return void ledger.got(request, { sessionId: `host.test-${request}`, leaseId, poolId });
    // A pool's browser gets its note after the lease, if that works; before, no one can tell whose it is.
    const isNoted = !isPool || (noted && outcome === 'got');
    const note = isNoted ? noteFor(run, { project: '', index: 0 }, request, PLAN) : null;
    const session = this.workspace.create(note, leaseId && poolId ? { leaseId, poolId } : null);
    if (outcome === 'got') ledger.got(request, { sessionId: session.sessionId, leaseId, poolId });
    held.push({ request, session, known: outcome === 'got' });
  }

  private end({ run: which, session: one, outcome }: Step & { do: 'end' }): void {
    for (const broker of at(this.living, which)) {
      for (const held of at(broker.held, one)) {
        if (outcome !== 'doubt') held.session.running = false;
        if (outcome === 'confirmed') this.settled(broker, held.request);
      }
    }
  }

  private settled({ machine, ledger, open }: Broker, request: string): void {
    open.delete(request);
    this.on(machine, () => ledger.settled(request));
  }

  private pool({ run: which, gone }: Step & { do: 'pool' }): void {
    if (this.way !== 'service') return;
    for (const { run, ledger, pools, machine } of at(this.living, which)) {
      this.made += 1;
      const name = `pool-${run.mark}-${this.made}`;
      const [mine] = pools;
      this.on(machine, () => {
        if (!gone || mine === undefined) {
          ledger.poolAsked(name);
          pools.push(name);
          this.workspace.pools.push({ id: `id-${name}`, name });
          return;
        }
        pools.shift();
        this.workspace.pools.splice(
          this.workspace.pools.findIndex((pool) => pool.name === mine),
          1,
        );
        ledger.poolGone(mine);
      });
    }
  }

  private pass({ minutes, lost }: Step & { do: 'pass' }): void {
    // A label counts for a day. Machines that sleep for so long send nothing.
    if (this.way !== 'service' && lost === 'everything') this.time += minutes * 60 * MINUTE_MS;
    for (let minute = 0; minute < minutes; minute += 1) {
      this.time += MINUTE_MS;
      for (const broker of this.living) if (this.time - broker.lastBeat >= BEAT_MS) this.beat(broker, lost);
    }
  }

  /** `notes`: the beats in the notes are lost, as on an overloaded service; `everything`: the machine sleeps. */
  private beat(broker: Broker, lost: 'nothing' | 'notes' | 'everything'): void {
    broker.lastBeat = this.time;
    this.on(broker.machine, () => {
      if (lost !== 'everything') broker.ledger.beat();
      for (const { request, session, known } of broker.held) {
        if (known && lost === 'nothing' && this.way === 'service')
          session.note = noteFor(broker.run, { project: '', index: 0 }, request, PLAN);
      }
    });
  }

  private reboot(which: number): void {
    for (const machine of at(this.machines, which)) {
      for (const broker of this.living) if (broker.machine === machine) broker.alive = false;
      this.made += 1;
      machine.boot = `boot-${this.made}`;
    }
  }

  private path(directory: number): string {
    return join(this.root, `ledgers-${directory}`);
  }

  /** Makes a directory unusable: something in its place prevents reading and writing. */
  private disk(directory: number, works: boolean): void {
    const path = this.path(directory);
    if (works !== this.broken.has(directory)) return;
    if (works) {
      rmSync(path);
      renameSync(`${path}.away`, path);
      this.broken.delete(directory);
      // Brokers retry by themselves.
      for (const broker of this.living) if (broker.directory === directory) broker.ledger.beat();
    } else {
      mkdirSync(path, { recursive: true });
      renameSync(path, `${path}.away`);
      writeFileSync(path, '');
      this.broken.add(directory);
    }
  }

  private junk(directory: number, kind: number): void {
    if (this.broken.has(directory)) return;
    this.made += 1;
    mkdirSync(this.path(directory), { recursive: true });
    const { sessionId } = this.workspace.create(null);
    const text = foreignLedger(kind, sessionId, this.ours);
    const file = join(this.path(directory), `junk-${this.made}.ledger.json`);
    if (text === null) mkdirSync(join(file, 'not-empty'), { recursive: true });
    else writeFileSync(file, text);
  }

  private foreign(kind: number): void {
    this.workspace.create(foreignNote(kind, SUITE));
    this.made += 1;
    if (kind === 0) this.workspace.pools.push({ id: `id-${this.made}`, name: `pool-of-them-${this.made}` });
  }

  private async sweep(asked: Step & { do: 'sweep' }): Promise<void> {
    const [named] = at(this.brokers, asked.run);
    // From exactly a broker's place, or from anywhere.
    const where =
      (asked.near && this.places.find(({ place }) => place === named?.place)) || this.places[asked.place % 4];
    if (!where) return;
    const { machine, place } = where;
    const elsewhere = asked.directory % 3 === 2 ? null : asked.directory % 3;
    const directory = asked.near && named ? named.directory : elsewhere;
    const runId = asked.flag === 'run' ? named?.run.runId : undefined;
    const overRuns = asked.flag === 'over' ? this.overRuns : [];
    // A successor listens at its predecessor's address, in the same place.
    const replaced = asked.flag === 'replaces' && named?.alive === false && named.place === place ? named : null;
    const self = replaced ? { mark: 'successor', socket: replaced.socket } : undefined;
    const eyes: Eyes = {
      place,
      ledgers: this.ledgersIn(directory),
      // One call for each status, or one in all.
      listed: !asked.fails.some((call) => call < LIST_CALLS[this.way]),
      lists: this.way !== 'listless',
      sessions: this.workspace.sessions,
      time: this.time,
      renewsNotes: this.way === 'service',
      runId,
      overRuns,
      replaces: replaced?.run.mark,
    };
    checkClocks(eyes, BEGUN);
    const verdicts = this.brokers.map((broker) => ({
      broker,
      verdict: judge(broker, eyes),
      seen: seenSessions(broker.run.mark, eyes),
    }));
    const running = this.workspace.sessions.filter((session) => session.running);
    const pools = this.workspace.pools.map(({ name }) => name);

    this.workspace.failAt(asked.fails);
    const result = await this.on(machine, () =>
      sweep({
        provider: this.provider,
        workspace: this.ours,
        suite: SUITE,
        ledgerDirectory: directory === null ? null : this.path(directory),
        overRuns,
        place,
        ...(runId !== undefined && { runId }),
        ...(self && { self }),
        askSocket: async (socket) => this.askSocket(socket, place),
      }),
    );
    this.workspace.failAt([]);
    this.stopped += result.stopped.length;
    if (this.left === null) this.checkNothing(eyes, result);

    const touchable = verdicts.filter(({ verdict }) => verdict !== 'never').map(({ broker }) => broker);
    checkTouched({ running, pools }, this.workspace, touchable);
    checkLedgers(eyes, this.ledgersIn(directory), this.workspace, touchable);
    checkUnknown(eyes, this.ledgersIn(directory), result);
    if (asked.fails.length > 0) return;
    for (const { broker, verdict, seen } of verdicts) {
      const own = eyes.ledgers.get(broker.run.mark)?.pools ?? [];
      if (verdict === 'must') checkGone({ seen, pools: own }, this.workspace, result);
    }
  }

  /** Of runs that leave nothing, a sweep finds and says nothing. Lists may fail. */
  private checkNothing({ ledgers }: Eyes, result: SweepResult): void {
    assert.deepEqual([...ledgers.keys()], []);
    const failures = result.failures.filter((text) => !text.startsWith('could not list '));
    assert.deepEqual({ ...result, setAside: [], failures }, emptySweep());
  }

  /**
   * Checking a socket from another place than the broker's is a mistake: the result does not show the broker's state.
   */
  private askSocket(socket: string, place: string | null): 'responds' | 'nobody' {
    const broker = this.brokers.find((each) => each.socket === socket);
    return broker?.alive && broker.place === place ? 'responds' : 'nobody';
  }

  /** Runs without a live broker, as a CI knows them. */
  private get overRuns(): string[] {
    const alive = new Set(this.living.map(({ run }) => run.runId));
    return this.brokers.map(({ run }) => run.runId).filter((runId) => !alive.has(runId));
  }

  private ledgersIn(directory: number | null): Map<string, LedgerContent> {
    const found = new Map<string, LedgerContent>();
    if (directory === null || this.broken.has(directory)) return found;
    for (const name of namesIn(this.path(directory))) {
      const content = name.startsWith('run-') ? readLedger(join(this.path(directory), name)) : null;
      if (content) found.set(content.mark, content);
    }
    return found;
  }

  /**
   * Once every disk works, the ledger of each live broker names everything that it holds, whatever failed before,
   * except what a sweep has ended that took it for dead.
   */
  checkRecovery(): void {
    if (this.left === null) return;
    for (const directory of [0, 1]) this.disk(directory, true);
    for (const broker of this.living) {
      this.on(broker.machine, () => broker.ledger.beat());
      const entries = this.ledgersIn(broker.directory).get(broker.run.mark)?.entries ?? [];
      const named = new Set(entries.map(({ request }) => request));
      const ended = broker.held.filter(({ session, known }) => known && !session.running);
      const mayLack = new Set(ended.map(({ request }) => request));
      const lacks = [...broker.open].filter((request) => !named.has(request) && !mayLack.has(request));
      if (lacks.length > 0 || entries.some(({ request }) => !broker.open.has(request))) {
        throw new Error(`the ledger of ${broker.run.mark} names ${[...named].join()}, not ${[...broker.open].join()}`);
      }
    }
  }
}

/** Returns the element that a number selects; none if there are none. */
function at<T>(all: readonly T[], which: number): T[] {
  return all.length === 0 ? [] : [all[which % all.length] as T];
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readLedger(file: string): LedgerContent | null {
  try {
    return parseLedger(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
