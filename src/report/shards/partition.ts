import { inserted } from './test-tree.ts';
import type { Workers } from './timings-file.ts';

/** Tests that stay together. */
export interface Piece {
  project: string;
  /** Expected ms on one worker. */
  ms: number;
}

/** A setup or teardown project, and how long it takes in a shard, in ms. */
export interface Repeated {
  name: string;
  ms: number;
}

export interface PartitionOptions extends Workers {
  shards: number;
  /** By ID of a project: the setup and teardown projects that it needs. */
  needs: ReadonlyMap<string, readonly Repeated[]>;
}

/** How many workers of a shard have a browser while all shards run. */
export function workersWithBrowser(workers: number, browsers: number | null, shards: number): number {
  return browsers === null ? workers : Math.min(workers, Math.max(1, Math.floor(browsers / shards)));
}

/**
 * Assigns each piece to a shard, from 0 on: the longest ones first, each to the shard that then ends it earliest, of
 * several to the one with the least to do. The result depends only on the arguments and their order, and all numbers
 * are integers: every machine computes the same.
 */
export function partition(pieces: readonly Piece[], options: PartitionOptions): number[] {
  const shards = Array.from({ length: options.shards }, () => new Shard(options, pieces.length));
  const order = [...pieces.keys()].sort((a, b) => (pieces[b]?.ms ?? 0) - (pieces[a]?.ms ?? 0) || a - b);
  const result: number[] = new Array(pieces.length).fill(0);
  for (const at of order) {
    const piece = pieces[at];
    if (!piece) continue;
    let best = 0;
    let earliest = Number.POSITIVE_INFINITY;
    let least = 0;
    for (const [n, shard] of shards.entries()) {
      const end = shard.endWith(piece);
      if (end < earliest || (end === earliest && shard.work < least)) [best, earliest, least] = [n, end, shard.work];
    }
    shards[best]?.add(piece);
    result[at] = best;
  }
  return result;
}

/** When a shard with these pieces ends, in ms. */
export function expectedMs(pieces: readonly Piece[], options: PartitionOptions): number {
  const shard = new Shard(options, pieces.length);
  for (const piece of pieces.toSorted((a, b) => b.ms - a.ms)) shard.add(piece);
  return shard.end;
}

/** The workers of a shard, with what each of them has to do. */
class Shard {
  readonly #options: PartitionOptions;
  /** ms of each worker. */
  readonly #workers: number[];
  /** The workers of projects that have a limit. */
  readonly #limited = new Map<string, number[]>();
  readonly #repeated = new Map<string, number>();
  #repeatedMs = 0;
  /** The worker with the least to do. */
  #first = 0;
  /** ms of all pieces. */
  work = 0;

  constructor(options: PartitionOptions, pieces: number) {
    this.#options = options;
    this.#workers = new Array(Math.max(1, Math.min(options.workers, pieces))).fill(0);
  }

  get end(): number {
    return this.#repeatedMs + this.#workers.reduce((most, each) => Math.max(most, each), 0);
  }

  endWith(piece: Piece): number {
    const missing = this.#missing(piece).reduce((sum, { ms }) => sum + ms, 0);
    return this.#repeatedMs + missing + (this.#workers[this.#workerFor(piece)] ?? 0) + piece.ms;
  }

  add(piece: Piece): void {
    for (const { name, ms } of this.#missing(piece)) {
      this.#repeated.set(name, ms);
      this.#repeatedMs += ms;
    }
    this.work += piece.ms;
    const worker = this.#workerFor(piece);
    this.#workers[worker] = (this.#workers[worker] ?? 0) + piece.ms;
    if (this.#limitOf(piece) !== null) {
      const used = inserted(this.#limited, piece.project, (): number[] => []);
      if (!used.includes(worker)) used.push(worker);
    }
    this.#first = this.#leastOf(this.#workers.keys());
  }

  #missing({ project }: Piece): Repeated[] {
    const needs = this.#options.needs.get(project) ?? [];
    return needs.filter(({ name }) => !this.#repeated.has(name));
  }

  #workerFor(piece: Piece): number {
    const used = this.#limited.get(piece.project) ?? [];
    const limit = this.#limitOf(piece);
    return limit !== null && used.length >= limit ? this.#leastOf(used) : this.#first;
  }

  #limitOf({ project }: Piece): number | null {
    const { projectWorkers } = this.#options;
    return Object.hasOwn(projectWorkers, project) ? (projectWorkers[project] ?? null) : null;
  }

  #leastOf(workers: Iterable<number>): number {
    let least = -1;
    for (const n of workers) if (least < 0 || (this.#workers[n] ?? 0) < (this.#workers[least] ?? 0)) least = n;
    return Math.max(0, least);
  }
}
