import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isAlive } from '../../common/platform/processes.ts';
import { EmulatorError } from '../../errors.ts';
import { temporaryDirectoryName } from './profile-directories.ts';
import { removeTree } from './trees.ts';

/** Holds the process ID of the emulator that uses a directory. */
const LOCK = 'emulator.pid';

/** Where profiles and extensions lie: a directory of the user's, or one that goes when the emulator does. */
export class DataDirectory {
  readonly #given: string | undefined;
  #made: Promise<string> | undefined;
  #isLocked = false;
  #isClosing = false;

  constructor(given: string | undefined) {
    this.#given = given === undefined ? undefined : resolve(given);
  }

  /** Whether what lies here is for a later emulator, too. */
  get isKept(): boolean {
    return this.#given !== undefined;
  }

  /** Whether it is any use to write something here. */
  get isWanted(): boolean {
    return this.isKept || !this.#isClosing;
  }

  /** Made when it is asked for first: most emulators never keep a thing. */
  path(): Promise<string> {
    this.#made ??= this.#make();
    return this.#made;
  }

  /**
   * Makes a directory of the user's this emulator's own for as long as it runs.
   * @throws EmulatorError `EMULATOR_START_FAILED` when another one uses it, or when it cannot be written to
   */
  async lock(): Promise<void> {
    if (this.#given === undefined) return;
    const lock = join(this.#given, LOCK);
    try {
      await this.path();
      await removeStale(lock);
      await writeFile(lock, String(process.pid), { flag: 'wx' });
      this.#isLocked = true;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const why =
        code === 'EEXIST'
          ? `another emulator uses it. Stop that one, or take another directory; if there is none, delete ${lock}`
          : message;
      throw new EmulatorError('EMULATOR_START_FAILED', `The data directory ${this.#given}: ${why}.`, { cause: error });
    }
  }

  /** The emulator is being stopped: what would be gone with it is no longer worth writing. */
  closing(): void {
    this.#isClosing = true;
  }

  /** Removes what is this emulator's alone. */
  async close(): Promise<void> {
    if (this.#isLocked) await rm(join(await this.path(), LOCK), { force: true });
    if (this.isKept || !this.#made) return;
    await removeTree(await this.#made);
  }

  async #make(): Promise<string> {
    if (this.#given === undefined) return await mkdtemp(join(tmpdir(), temporaryDirectoryName('data')));
    // Profiles hold cookies.
    await mkdir(this.#given, { recursive: true, mode: 0o700 });
    return this.#given;
  }
}

/** An emulator that was killed leaves its lock. */
async function removeStale(lock: string): Promise<void> {
  const text = await readFile(lock, 'utf8').catch(() => undefined);
  const pid = Number(text);
  if (text !== undefined && !(Number.isInteger(pid) && pid > 0 && isAlive(pid))) await rm(lock, { force: true });
}
