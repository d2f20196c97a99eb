import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { temporaryFolderName } from './browser/profile-folders.ts';

/** Where profiles and extensions lie: a folder of the user's, or one that goes when the emulator does. */
export class DataFolder {
  readonly #given: string | undefined;
  #made: Promise<string> | undefined;

  constructor(given: string | undefined) {
    this.#given = given === undefined ? undefined : resolve(given);
  }

  /** Whether what lies here is wanted after the emulator's end. */
  get outlives(): boolean {
    return this.#given !== undefined;
  }

  /** Made when it is asked for first: most emulators never keep a thing. */
  path(): Promise<string> {
    this.#made ??= this.#make();
    return this.#made;
  }

  async removeTemporary(): Promise<void> {
    if (this.outlives || !this.#made) return;
    await rm(await this.#made, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }

  async #make(): Promise<string> {
    if (this.#given === undefined) return await mkdtemp(join(tmpdir(), temporaryFolderName('data')));
    // Profiles hold cookies.
    await mkdir(this.#given, { recursive: true, mode: 0o700 });
    return this.#given;
  }
}
