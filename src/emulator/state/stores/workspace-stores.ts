import { join } from 'node:path';
import type { Clock } from '../../../common/clock.ts';
import { ApiError } from '../../api-error.ts';
import type { DataDirectory } from '../../disk/data-directory.ts';
import { type FilesRequest, SessionFiles } from '../session-files.ts';
import { ExtensionStore } from './extension-store.ts';
import { ProfileStore } from './profile-store.ts';

export interface StoresContext {
  /** Where profiles and extensions lie. */
  data: DataDirectory;
  clock: Clock;
  log: (line: string) => void;
}

/** What a workspace keeps on disk: its profiles and extensions, and what sessions take of them. */
export class WorkspaceStores {
  readonly profiles: ProfileStore;
  readonly extensions: ExtensionStore;
  readonly #extensionAccess: boolean;
  readonly #context: StoresContext;

  constructor({ name, extensionAccess }: { name: string; extensionAccess: boolean }, context: StoresContext) {
    this.#extensionAccess = extensionAccess;
    this.#context = context;
    const directory = async (store: string) =>
      join(await context.data.path(), `workspace-${encodeURIComponent(name)}`, store);
    this.profiles = new ProfileStore({ ...context, directory: () => directory('profiles') });
    this.extensions = new ExtensionStore({ ...context, directory: () => directory('extensions') });
  }

  /** Reads what an earlier emulator left in the data directory. */
  async load(): Promise<void> {
    await Promise.all([this.profiles.load(), this.extensions.load()]);
  }

  /** @throws ApiError 403 for an account without access to extensions */
  checkExtensionAccess(): void {
    if (!this.#extensionAccess) throw new ApiError(403, 'Extensions API is not enabled for this account');
  }

  /** @throws ApiError 403 for an account without access to extensions, 404 for an extension that is not there */
  check({ extensionIds = [] }: FilesRequest): void {
    if (extensionIds.length > 0) this.checkExtensionAccess();
    for (const extensionId of extensionIds) this.extensions.get(extensionId);
  }

  /** What a session by this body or template takes along; undefined: nothing. */
  files(request: FilesRequest): SessionFiles | undefined {
    if (!request.profile && !request.extensionIds?.length) return undefined;
    const { data, log } = this.#context;
    const { profiles, extensions } = this;
    return new SessionFiles(request, { profiles, extensions, log, isWanted: () => data.isWanted });
  }
}
