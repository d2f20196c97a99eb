import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Luggage } from '../browser/luggage.ts';
import type { ExtensionStore } from './extension-store.ts';
import type { ProfileStore, ProfileUse } from './profile-store.ts';

/** Not among the files of a saved profile: a session has its extensions as they were when it began. */
const EXTENSIONS = 'poolwright-extensions';

export interface LuggageRequest {
  profile?: { name: string; persist?: boolean | undefined } | undefined;
  extensionIds?: readonly string[] | undefined;
}

interface Stores {
  profiles: ProfileStore;
  extensions: ExtensionStore;
  log: (line: string) => void;
}

/** A session's profile and extensions: from the stores to the browser's disk, and the profile back. */
export class SessionLuggage implements Luggage {
  readonly #request: LuggageRequest;
  readonly #profile: ProfileUse | undefined;
  readonly #extensions: ExtensionStore;
  readonly #log: (line: string) => void;
  /** Whether the session belongs to a workspace: a warm browser that nobody used has nothing to save. */
  isUsed = false;
  /** Whether the session has completed; one that crashed is not saved. */
  hasCompleted = false;

  constructor(request: LuggageRequest, { profiles, extensions, log }: Stores) {
    this.#request = request;
    this.#profile = request.profile && profiles.use(request.profile.name);
    this.#extensions = extensions;
    this.#log = log;
  }

  get isKept(): boolean {
    return this.hasCompleted && this.isUsed && this.#request.profile?.persist === true;
  }

  /** @throws ApiError 404 for an extension that was deleted meanwhile */
  async pack(profileFolder: string): Promise<string[]> {
    await this.#profile?.restore(profileFolder);
    const folders: string[] = [];
    for (const extensionId of new Set(this.#request.extensionIds)) {
      const folder = join(profileFolder, EXTENSIONS, extensionId);
      await mkdir(folder, { recursive: true });
      await this.#extensions.copyInto(extensionId, folder);
      folders.push(folder);
    }
    return folders;
  }

  async unpack(profileFolder: string): Promise<void> {
    if (!this.isKept) return;
    try {
      await this.#profile?.save(profileFolder);
    } catch (error) {
      this.#log(`profile "${this.#request.profile?.name}": could not be saved: ${String(error)}`);
    }
  }
}
