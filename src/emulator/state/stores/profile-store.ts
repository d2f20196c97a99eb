import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, isoTime } from '../../../common/clock.ts';
import { deferred } from '../../../common/deferred.ts';
import { copyTree } from '../../disk/trees.ts';
import { DirectoryStore } from './directory-store.ts';

/** The parts of Chromium's user data dir that belong to a person: the profile, and the key of its secrets. */
const TOP = new Set(['', 'Default', 'Local State']);
/** Files that Chromium recreates, and files about windows and locks of an ended run. */
const LEFT_OUT = new Set([
  'Cache',
  'Code Cache',
  'DawnGraphiteCache',
  'DawnWebGPUCache',
  'GPUCache',
  'LOCK',
  'LOG',
  'LOG.old',
  'Sessions',
  'Sessions_Encrypted',
  'optimization_guide_model_store',
]);

const fields = v.object({
  id: v.string(),
  files: v.pipe(v.string(), v.uuid()),
  name: v.string(),
  createdAt: v.string(),
});
type SavedProfile = Pick<v.InferOutput<typeof fields>, 'name' | 'createdAt'>;

export interface StoreContext {
  /** Resolves to the store's own directory. */
  directory: () => Promise<string>;
  clock: Clock;
  log: (line: string) => void;
}

/**
 * One session's use of a profile. Each session has a copy, so several may use one profile at once. The next
 * session gets the copy that was saved last.
 */
export interface ProfileUse {
  /**
   * Fills a fresh user data dir with what was saved; with nothing when there is no such profile. Waits for sessions
   * that are over and whose browsers still write it out.
   */
  restore(directory: string): Promise<void>;
  /** The session is over, and a save follows. Returns a function that reports that it is done, or will not come. */
  announceSave(): () => void;
  /** Saves a user data dir that no browser uses any more. A profile that was deleted meanwhile stays deleted. */
  save(directory: string): Promise<void>;
}

/** The saved profiles of one workspace, by name. */
export class ProfileStore {
  readonly #store: DirectoryStore<SavedProfile>;
  readonly #context: StoreContext;
  /** IDs by name, from the first save on until it is deleted. */
  readonly #ids = new Map<string, string>();
  /** Saves that are announced. */
  readonly #saves = new Set<{ name: string; over: Promise<void> }>();
  /** How often profiles of a name were deleted. */
  readonly #deletions = new Map<string, number>();

  constructor(context: StoreContext) {
    this.#context = context;
    this.#store = new DirectoryStore({ ...context, schema: fields });
  }

  async load(): Promise<void> {
    await this.#store.load((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
    for (const { id, name } of this.#store.records) this.#ids.set(name, id);
  }

  /** In the order in which they were saved first. */
  get all(): { profileId: string; name: string; createdAt: string }[] {
    return this.#store.records.map(({ id, name, createdAt }) => ({ profileId: id, name, createdAt }));
  }

  use(name: string): ProfileUse {
    const deletions = this.#deletions.get(name);
    return {
      restore: async (directory) => {
        await Promise.all([...this.#saves].filter((save) => save.name === name).map(({ over }) => over));
        const id = this.#ids.get(name);
        if (id !== undefined) await this.#store.copyInto(id, directory);
      },
      announceSave: () => this.#announceSave(name),
      save: async (directory) => {
        const isWanted = this.#deletions.get(name) === deletions && (await this.#save(name, directory));
        if (!isWanted) {
          this.#context.log(`profile "${name}": not saved, because it was deleted while the session ran`);
        }
      },
    };
  }

  /** Ignores a missing profile. */
  async delete(name: string): Promise<void> {
    this.#deletions.set(name, (this.#deletions.get(name) ?? 0) + 1);
    const id = this.#ids.get(name);
    this.#ids.delete(name);
    if (id !== undefined) await this.#store.delete(id);
  }

  #announceSave(name: string): () => void {
    const { promise: over, resolve } = deferred();
    const save = { name, over };
    this.#saves.add(save);
    return () => {
      this.#saves.delete(save);
      resolve();
    };
  }

  #save(name: string, directory: string): Promise<boolean> {
    const id = this.#ids.get(name) ?? `prof_${randomUUID().replaceAll('-', '')}`;
    this.#ids.set(name, id);
    return this.#store.put(id, async (target) => {
      await copyTree(directory, target, isKept);
      return { name, createdAt: this.#store.get(id)?.createdAt ?? isoTime(this.#context.clock) };
    });
  }
}

/** Whether a path in a user data dir belongs to a saved profile. */
function isKept(path: string): boolean {
  const parts = path.split(/[\\/]/);
  return TOP.has(parts[0] ?? '') && !parts.some((part) => LEFT_OUT.has(part));
}
