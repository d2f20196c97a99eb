import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserFiles } from '../running-browser.ts';
import type { ExtensionStore } from './stores/extension-store.ts';
import type { ProfileStore, ProfileUse } from './stores/profile-store.ts';

/** Not among the files of a saved profile: a session has its extensions as they were when it began. */
const EXTENSIONS = 'poolwright-extensions';

export interface FilesRequest {
  profile?: { name: string; persist?: boolean | undefined } | undefined;
  extensionIds?: readonly string[] | undefined;
}

interface Stores {
  profiles: ProfileStore;
  extensions: ExtensionStore;
  log: (line: string) => void;
  isWanted: () => boolean;
}

/** A session's profile and extensions: from the stores to the browser's disk, and the profile back. */
export class SessionFiles implements BrowserFiles {
  readonly #request: FilesRequest;
  readonly #profile: ProfileUse | undefined;
  readonly #stores: Stores;
  /** Whether the session belongs to a workspace: an unused warm browser has nothing to save. */
  isUsed = false;
  #hasCompleted = false;
  #saveIsOver: (() => void) | undefined;

  constructor(request: FilesRequest, stores: Stores) {
    this.#request = request;
    this.#stores = stores;
    this.#profile = request.profile && stores.profiles.use(request.profile.name);
  }

  /** The session is over; one that crashed is not saved. From now on, others who want the profile wait for it. */
  end(hasCompleted: boolean): void {
    this.#hasCompleted = hasCompleted;
    if (this.isKept) this.#saveIsOver = this.#profile?.announceSave();
  }

  /** Nothing of the session is left to do. */
  close(): void {
    this.#saveIsOver?.();
  }

  get isKept(): boolean {
    const isAsked = this.#request.profile?.persist === true;
    return isAsked && this.#hasCompleted && this.isUsed && this.#stores.isWanted();
  }

  /** @throws ApiError 404 for an extension that was deleted meanwhile */
  async prepare(profileDirectory: string, signal: AbortSignal): Promise<string[]> {
    await this.#profile?.restore(profileDirectory);
    signal.throwIfAborted();
    const directories: string[] = [];
    for (const extensionId of new Set(this.#request.extensionIds)) {
      const directory = join(profileDirectory, EXTENSIONS, extensionId);
      await mkdir(directory, { recursive: true });
      await this.#stores.extensions.copyInto(extensionId, directory);
      signal.throwIfAborted();
      directories.push(directory);
    }
    return directories;
  }

  async save(profileDirectory: string): Promise<void> {
    if (!this.isKept) return;
    try {
      await this.#profile?.save(profileDirectory);
    } catch (error) {
      this.#stores.log(`profile "${this.#request.profile?.name}": could not be saved: ${String(error)}`);
    }
  }
}
