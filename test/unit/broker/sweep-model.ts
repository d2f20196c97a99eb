import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import fc from 'fast-check';
import { Ledger, workspaceMark } from '../../../src/broker/ledger.ts';
import type { LedgerContent } from '../../../src/broker/ledger-file.ts';
import type { Log } from '../../../src/broker/log.ts';
import { noteFor, type RunIdentity } from '../../../src/broker/run-identity.ts';
import { type SweepResult, sweep } from '../../../src/broker/sweep.ts';
import { parseNote, sessionNote } from '../../../src/lease/note.ts';
import { leasePlan } from '../../../src/options/lease-plan.ts';
import { type ScriptedSession, ScriptedWorkspace } from './scripted-workspace.ts';

/**
 * A small model of what ledgers and sweeps are for: machines with clocks of their own, brokers that come and die there,
 * folders that they share and that fail, one workspace. What a sweep may and must do is written down once more, in the
 * model's own terms.
 */

const API_KEY = 'key-0123456789';
const BASE_URL = 'https://service.test';
const SUITE = 'c0ffee';
const MINUTE_MS = 60_000;
const SILENT_MS = 20 * MINUTE_MS;
const BEAT_MS = 5 * MINUTE_MS;
/** A beat that failed this often in a row comes through: who cannot say anything for longer is dead to the others. */
const LOST_BEATS = 2;

/** One thing that happens. Numbers choose among what there is. */
export type Step =
  | { do: 'start'; place: number; folder: number; sameRun: boolean }
  | { do: 'ask'; run: number; pool: boolean; outcome: 'got' | 'lost' | 'lost-made' | 'refused'; noted: boolean }
  | { do: 'end'; run: number; session: number; outcome: 'confirmed' | 'doubt' | 'doubt-ended' }
  | { do: 'pool'; run: number; gone: boolean }
  | { do: 'pass'; minutes: number; lost: boolean }
  | { do: 'expire' | 'crash' | 'reboot'; which: number }
  | { do: 'skew'; machine: number; hours: number }
  | { do: 'disk'; folder: number; works: boolean }
  | { do: 'junk'; folder: number; kind: number }
  | { do: 'foreign'; note: number }
  | {
      do: 'sweep';
      place: number;
      folder: number;
      flag: 'none' | 'run' | 'over' | 'replaces';
      run: number;
      near: boolean;
      fails: number;
    };

const index = fc.nat(7);
const bool = fc.boolean();

const start = fc.record({ do: fc.constant('start'), place: index, folder: index, sameRun: bool });
const ask = fc.record({
  do: fc.constant('ask'),
  run: index,
  pool: bool,
  outcome: fc.constantFrom('got', 'got', 'lost', 'lost-made', 'refused'),
  noted: bool,
});
const step = fc.oneof(
  { weight: 2, arbitrary: start },
  { weight: 6, arbitrary: ask },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('end'),
      run: index,
      session: index,
      outcome: fc.constantFrom('confirmed', 'doubt', 'doubt-ended'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pool'), run: index, gone: bool }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass'), minutes: fc.integer({ min: 1, max: 30 }), lost: bool }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire'), which: index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('crash'), which: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reboot'), which: index }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('skew'), machine: index, hours: fc.integer({ min: -5, max: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disk'), folder: index, works: bool }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('junk'), folder: index, kind: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('foreign'), note: index }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('sweep'),
      place: index,
      folder: index,
      flag: fc.constantFrom('none', 'none', 'run', 'over', 'replaces'),
      run: index,
      near: bool,
      fails: fc.constantFrom(0, 0, 0, 1, 2, 3),
    }),
  },
);

/** Histories in which sweeps find something: there are runs from the beginning, and they ask and die often. */
export const history = fc
  .tuple(start, ask, start, ask, fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }))
  .map(([first, one, second, another, rest]) => [first, one, second, another, ...rest] as Step[]);

/** A broker, alive or dead. */
interface Broker {
  run: RunIdentity & { now: () => number };
  machine: Machine;
  place: string | null;
  folder: number;
  socket: string;
  ledger: Ledger;
  alive: boolean;
  requests: number;
  /** Its sessions; those it does not know of are of creates whose answer was lost. */
  held: { request: string; session: ScriptedSession; known: boolean }[];
  pools: string[];
  lostBeats: number;
  lastBeat: number;
}

interface Machine {
  boot: string;
  /** A host and its container; null: a system that does not say where it is. */
  views: (string | null)[];
  skewMs: number;
}

const PLAN = leasePlan({}, {});
const QUIET: Log = {
  info: () => undefined,
  notice: () => undefined,
  momentary: () => undefined,
  error: () => undefined,
};

/** The world of one history. */
export class World {
  /** The service's clock, in ms since the epoch. */
  private time = Date.UTC(2026, 10, 21);
  private readonly workspace = new ScriptedWorkspace(() => this.time);
  /** The first two share a host name, as a host and its container do. */
  private readonly machines: Machine[] = [
    { boot: 'boot-a', views: ['host', 'container'], skewMs: 0 },
    { boot: 'boot-b', views: ['host'], skewMs: 0 },
    { boot: 'boot-c', views: [null], skewMs: 0 },
  ];
  private readonly brokers: Broker[] = [];
  private readonly broken = new Set<number>();
  private made = 0;
  /** Sessions that sweeps of this history have stopped. */
  stopped = 0;

  /** @param root an empty folder, which the history has for itself */
  constructor(private readonly root: string) {}

  /** Does one step. @throws when what happens is not what may or must happen */
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
        return this.disk(step.folder % 2, step.works);
      case 'junk':
        return this.junk(step.folder % 2, step.kind);
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

  private start({ place, folder, sameRun }: Step & { do: 'start' }): void {
    const [where] = at(this.places, place);
    if (!where || this.brokers.length === 6) return;
    this.made += 1;
    const last = this.brokers.at(-1);
    const runId = sameRun && last ? last.run.runId : `run-${this.made}`; // another shard of it
    const run = { runId, shard: null, suite: SUITE, mark: `mark${this.made}`, now: () => this.time };
    const socket = `/tmp/socket-${this.made}`;
    const content = { runId, mark: run.mark, baseURL: BASE_URL, workspace: workspaceMark(API_KEY), socket };
    const owner = { folder: this.path(folder % 2), content: { ...content, place: where.place } };
    this.brokers.push({
      ...where,
      run,
      folder: folder % 2,
      socket,
      ledger: new Ledger(owner, QUIET, run.now),
      alive: true,
      requests: 0,
      held: [],
      pools: [],
      lostBeats: 0,
      lastBeat: this.time,
    });
  }

  private ask(asked: Step & { do: 'ask' }): void {
    for (const broker of at(this.living, asked.run)) this.on(broker.machine, () => this.request(broker, asked));
  }

  private request(broker: Broker, { pool, outcome, noted }: Step & { do: 'ask' }): void {
    const { run, ledger, held } = broker;
    broker.requests += 1;
    const request = `${run.mark}-${broker.requests}`;
    const poolId = pool ? 'pool-1' : null;
    ledger.asked(request, poolId);
    if (outcome === 'refused') ledger.settled(request);
    if (outcome === 'refused' || outcome === 'lost') return;
    // A pool's browser gets its note once it is leased, if that works; before, nobody can tell whose it is.
    const isNoted = !pool || (noted && outcome === 'got');
    const note = isNoted ? noteFor(run, { project: '', slot: 0 }, request, PLAN) : null;
    const leaseId = pool ? `l-${request}` : null;
    const session = this.workspace.create(note, leaseId && poolId ? { leaseId, poolId } : null);
    if (outcome === 'got') ledger.got(request, { sessionId: session.sessionId, leaseId, poolId });
    held.push({ request, session, known: outcome === 'got' });
  }

  private end({ run: which, session: one, outcome }: Step & { do: 'end' }): void {
    for (const broker of at(this.living, which)) {
      for (const held of at(broker.held, one)) {
        if (outcome !== 'doubt') held.session.running = false;
        if (outcome === 'confirmed') this.on(broker.machine, () => broker.ledger.settled(held.request));
      }
    }
  }

  private pool({ run: which, gone }: Step & { do: 'pool' }): void {
    for (const { ledger, pools, machine } of at(this.living, which)) {
      this.made += 1;
      const name = `pool-of-run-${this.made}`;
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
    for (let minute = 0; minute < minutes; minute += 1) {
      this.time += MINUTE_MS;
      for (const broker of this.living) if (this.time - broker.lastBeat >= BEAT_MS) this.beat(broker, lost);
    }
  }

  private beat(broker: Broker, lost: boolean): void {
    broker.lastBeat = this.time;
    broker.lostBeats = lost && broker.lostBeats < LOST_BEATS ? broker.lostBeats + 1 : 0;
    this.on(broker.machine, () => {
      broker.ledger.beat();
      if (broker.lostBeats > 0) return;
      for (const { request, session, known } of broker.held) {
        if (known) session.note = noteFor(broker.run, { project: '', slot: 0 }, request, PLAN);
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

  private path(folder: number): string {
    return join(this.root, `ledgers-${folder}`);
  }

  /** A folder that is not there: what lies in its place lets nobody read or write. */
  private disk(folder: number, works: boolean): void {
    const path = this.path(folder);
    if (works !== this.broken.has(folder)) return;
    if (works) {
      rmSync(path);
      renameSync(`${path}.away`, path);
      this.broken.delete(folder);
      // Brokers try again by themselves.
      for (const broker of this.living) if (broker.folder === folder) broker.ledger.beat();
    } else {
      mkdirSync(path, { recursive: true });
      renameSync(path, `${path}.away`);
      writeFileSync(path, '');
      this.broken.add(folder);
    }
  }

  private junk(folder: number, kind: number): void {
    if (this.broken.has(folder)) return;
    this.made += 1;
    mkdirSync(this.path(folder), { recursive: true });
    const file = join(this.path(folder), `junk-${this.made}.ledger.json`);
    const foreign = this.workspace.create(null);
    const entries = [{ request: 'x-1', poolId: null, leaseId: null, sessionId: foreign.sessionId }];
    const whole = { schema: 1, runId: 'x', mark: 'x', baseURL: BASE_URL, workspace: workspaceMark(API_KEY) };
    const rest = { place: null, socket: '', beatAt: new Date(0).toISOString(), pools: [], entries };
    const texts = [
      '',
      '{"schema":1',
      JSON.stringify({ ...whole, ...rest, schema: 2 }),
      JSON.stringify({ ...whole, ...rest, beatAt: 'long ago' }),
      JSON.stringify({ ...whole, ...rest, workspace: 'another' }),
      JSON.stringify({ ...whole, ...rest, baseURL: 'https://elsewhere.test' }),
      JSON.stringify({ ...whole, ...rest, entries: [{ sessionId: foreign.sessionId }] }),
    ];
    const text = texts[kind % (texts.length + 1)];
    if (text === undefined) mkdirSync(join(file, 'not-empty'), { recursive: true });
    else writeFileSync(file, text);
  }

  private foreign(kind: number): void {
    const theirs = { runId: 'theirs', shard: null, project: '', slot: 0, request: 'theirs-1', beat: new Date(0) };
    const notes = [
      null,
      'nightly',
      'somebody else poolwright run=1',
      sessionNote({ ...theirs, suite: 'ffffff' }, undefined),
      `${sessionNote({ ...theirs, suite: SUITE }, undefined)} and more`,
    ];
    this.workspace.create(notes[kind % notes.length] ?? null);
    this.made += 1;
    if (kind === 0) this.workspace.pools.push({ id: `id-${this.made}`, name: `pool-of-them-${this.made}` });
  }

  private async sweep(asked: Step & { do: 'sweep' }): Promise<void> {
    const [named] = at(this.brokers, asked.run);
    // From the very place of a broker, or from anywhere.
    const where =
      (asked.near && this.places.find(({ place }) => place === named?.place)) || this.places[asked.place % 4];
    if (!where) return;
    const { machine, place } = where;
    const elsewhere = asked.folder % 3 === 2 ? null : asked.folder % 3;
    const folder = asked.near && named ? named.folder : elsewhere;
    const runId = asked.flag === 'run' ? named?.run.runId : undefined;
    const overRuns = asked.flag === 'over' ? this.overRuns : [];
    // A successor listens where its predecessor did, in the same place.
    const replaced = asked.flag === 'replaces' && named?.alive === false && named.place === place ? named : null;
    const self = replaced ? { mark: 'successor', socket: replaced.socket } : undefined;
    const before = {
      running: this.workspace.sessions.filter(({ running }) => running),
      pools: this.workspace.pools.map(({ name }) => name),
      files: this.ledgersIn(folder),
    };
    const must = this.mustStop({ place, folder, runId, overRuns, replaced });

    this.workspace.failures = asked.fails;
    const result = await this.on(machine, () =>
      sweep({
        client: this.workspace.client,
        baseURL: BASE_URL,
        apiKey: API_KEY,
        suite: SUITE,
        ledgerFolder: folder === null ? null : this.path(folder),
        overRuns,
        place,
        ...(runId !== undefined && { runId }),
        ...(self && { self }),
        askSocket: async (socket) => this.askSocket(socket, place),
      }),
    );
    this.workspace.failures = 0;

    this.stopped += result.stopped.length;
    this.checkLiving(before, runId, folder);
    if (asked.fails === 0) checkStopped(must, result);
  }

  /** Who is asked in another place than the broker's is a mistake: what is there says nothing about it. */
  private askSocket(socket: string, place: string | null): 'answers' | 'nobody' {
    const broker = this.brokers.find((each) => each.socket === socket);
    return broker?.alive && broker.place === place ? 'answers' : 'nobody';
  }

  /** Runs of which no broker is left, as a CI knows them. */
  private get overRuns(): string[] {
    const alive = new Set(this.living.map(({ run }) => run.runId));
    return this.brokers.map(({ run }) => run.runId).filter((runId) => !alive.has(runId));
  }

  private ledgersIn(folder: number | null): Map<string, LedgerContent> {
    const found = new Map<string, LedgerContent>();
    if (folder === null || this.broken.has(folder)) return found;
    for (const name of namesIn(this.path(folder))) {
      const content = name.startsWith('run-') ? readJson(join(this.path(folder), name)) : null;
      if (content) found.set(content.mark, content);
    }
    return found;
  }

  /** Sessions that a sweep with these eyes has to stop, because it may judge that their broker is dead. */
  private mustStop(by: {
    place: string | null;
    folder: number | null;
    runId: string | undefined;
    overRuns: readonly string[];
    replaced: Broker | null;
  }): ScriptedSession[] {
    const ledgers = this.ledgersIn(by.folder);
    return this.brokers
      .filter(({ alive }) => !alive)
      .flatMap((broker) => {
        const { runId, mark } = broker.run;
        const ledger = ledgers.get(mark);
        const noted = this.workspace.sessions.filter(
          ({ running, note }) => running && parseNote(note)?.request.startsWith(`${mark}-`),
        );
        const beats = noted.map(({ note }) => parseNote(note)?.beat.getTime() ?? 0);
        const lastSign = Math.max(...beats, ledger ? Date.parse(ledger.beatAt) : 0);
        const isSeen = ledger !== undefined && broker.place === by.place;
        const isCertain = isSeen && (by.place !== null || by.replaced === broker);
        const isNamed = runId === by.runId || by.overRuns.includes(runId);
        if (!isCertain && !isNamed && this.time - lastSign <= SILENT_MS) return [];
        const entries = new Set(ledger?.entries.map(({ sessionId }) => sessionId));
        const inLedger = this.workspace.sessions.filter(({ sessionId, running }) => running && entries.has(sessionId));
        return [...noted, ...inLedger];
      });
  }

  /** Nothing of a live run, and nothing that is not ours, is gone. */
  private checkLiving(
    before: { running: ScriptedSession[]; pools: string[]; files: Map<string, LedgerContent> },
    runId: string | undefined,
    folder: number | null,
  ): void {
    const mayGo = (broker: Broker | undefined) => broker !== undefined && (!broker.alive || broker.run.runId === runId);
    for (const session of before.running) {
      const owner = this.brokers.find(({ held }) => held.some((each) => each.session === session));
      // One that its own broker does not know of nobody uses, and nobody renews its note.
      const isLost = owner?.held.some((each) => each.session === session && !each.known);
      const isSilent = this.time - (parseNote(session.note)?.beat.getTime() ?? this.time) > SILENT_MS;
      if (!session.running && !mayGo(owner) && !(isLost && isSilent))
        throw new Error(`${session.sessionId} was stopped: ${session.note}`);
    }
    const pools = new Set(this.workspace.pools.map(({ name }) => name));
    for (const name of before.pools) {
      const owner = this.brokers.find(({ pools: own }) => own.includes(name));
      if (!pools.has(name) && !mayGo(owner)) throw new Error(`${name} was deleted`);
    }
    const files = this.ledgersIn(folder);
    for (const { alive, run } of this.brokers) {
      const gone = before.files.has(run.mark) && !files.has(run.mark);
      if (gone && alive && run.runId !== runId) throw new Error(`the ledger of ${run.mark} is gone`);
    }
  }
}

function checkStopped(must: readonly ScriptedSession[], result: SweepResult): void {
  if (result.failures.length > 0) throw new Error(`nothing was in its way: ${result.failures.join('; ')}`);
  const left = must.filter(({ running }) => running).map(({ sessionId, note }) => `${sessionId} (${note})`);
  if (left.length > 0) throw new Error(`left: ${left.join(', ')}; ${JSON.stringify(result)}`);
}

/** The one of these that a number means; none of none. */
function at<T>(all: readonly T[], which: number): T[] {
  return all.length === 0 ? [] : [all[which % all.length] as T];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readJson(file: string): LedgerContent | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
