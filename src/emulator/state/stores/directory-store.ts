import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import * as v from 'valibot';
import { writeAtomically } from '../../../common/write-atomically.ts';
import { copyTree, removeTree } from '../../disk/trees.ts';

export interface DirectoryStoreOptions<R> {
  /** The directory of the store. Called at the first write. */
  directory: () => Promise<string>;
  schema: v.GenericSchema<unknown, R & DirectoryRecord>;
  log: (line: string) => void;
}

export interface DirectoryRecord {
  id: string;
  /** Name of the directory with its current files. */
  files: string;
}

const RECORD = 'record.json';

/**
 * Records with a directory of files each. The files of a record change all at once: the new ones are written to another
 * directory, then the record names it. Records stay complete even if the process is killed.
 */
export class DirectoryStore<R> {
  readonly #options: DirectoryStoreOptions<R>;
  readonly #records = new Map<string, R & DirectoryRecord>();
  /** IDs of deleted records: later writes to them are ignored. IDs are never used again. */
  readonly #deleted = new Set<string>();
  /** One change or copy of a record's files at a time. */
  readonly #turns = new Map<string, LimitFunction>();

  constructor(options: DirectoryStoreOptions<R>) {
    this.#options = options;
  }

  /** In the order of their addition. */
  get records(): (R & DirectoryRecord)[] {
    return [...this.#records.values()];
  }

  get(id: string): (R & DirectoryRecord) | undefined {
    return this.#records.get(id);
  }

  /** Reads the files of an earlier emulator; logs and keeps unreadable ones. */
  async load(compare: (a: R, b: R) => number): Promise<void> {
    const root = await this.#options.directory();
    const found: (R & DirectoryRecord)[] = [];
    for (const id of await readdir(root).catch(() => [])) {
      try {
        const text = await readFile(join(root, id, RECORD), 'utf8');
        const record = v.parse(this.#options.schema, JSON.parse(text));
        if (record.id === id) found.push(record);
      } catch {
        this.#options.log(`data: ${join(root, id)} is not readable: left out`);
      }
    }
    for (const record of found.sort(compare)) {
      this.#records.set(record.id, record);
      await this.#sweep(record);
    }
  }

  /**
   * Adds a record, or replaces it with its files; `fill` writes them into an empty directory and returns the record's
   * fields. Returns false when the record was deleted before.
   */
  put(id: string, fill: (directory: string) => Promise<R>): Promise<boolean> {
    return this.#inTurn(id, async () => {
      if (this.#deleted.has(id)) return false;
      const home = join(await this.#options.directory(), id);
      const version = randomUUID();
      const files = join(home, version);
      let record: R & DirectoryRecord;
      try {
        await mkdir(files, { recursive: true });
        record = { ...(await fill(files)), id, files: version };
        await writeAtomically(join(home, RECORD), JSON.stringify(record));
      } catch (error) {
        await removeTree(this.#records.has(id) ? files : home);
        throw error;
      }
      if (this.#deleted.has(id)) return false; // the waiting delete removes its files
      this.#records.set(id, record);
      await this.#sweep(record);
      return true;
    });
  }

  /** Copies a record's files into `directory`; returns false when there is no such record. */
  copyInto(id: string, directory: string): Promise<boolean> {
    return this.#inTurn(id, async () => {
      const record = this.#records.get(id);
      if (!record) return false;
      await copyTree(join(await this.#options.directory(), id, record.files), directory);
      return true;
    });
  }

  async delete(id: string): Promise<void> {
    // Later requests no longer find it; its files are deleted once no copy of them is in progress.
    this.#deleted.add(id);
    this.#records.delete(id);
    await this.#inTurn(id, async () => removeTree(join(await this.#options.directory(), id)));
  }

  async #sweep({ id, files }: DirectoryRecord): Promise<void> {
    const home = join(await this.#options.directory(), id);
    for (const name of await readdir(home)) {
      if (name !== files && name !== RECORD) await removeTree(join(home, name));
    }
  }

  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(id) ?? pLimit(1);
    this.#turns.set(id, turns);
    return turns(work);
  }
}
