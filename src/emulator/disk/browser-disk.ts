import { existsSync } from 'node:fs';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorMessage } from '../../common/error-message.ts';
import { longestSocketPath } from '../../common/platform/socket-path.ts';
import { type Command, OwnDisk } from './own-disk.ts';

/** Chromium makes a socket in its temporary directory. */
const SOCKET = '/org.chromium.Chromium.XXXXXX/SingletonSocket';

/** Where one browser's files are. */
export interface BrowserDisk {
  /** The command that starts a program there. */
  wrap(command: Command): Command;
  /** To be called when the browser is gone. */
  remove(): Promise<void>;
}

/** What a browser is started from. */
interface Needs {
  profileDirectory: string;
  executable: string;
  extraArguments: readonly string[];
}

/** Gives each browser a separate disk if the system supports it; otherwise logs that once. */
export class BrowserDisks {
  readonly #log: (line: string) => void;
  /** Whether the system allows it: found out with the first disk. */
  #runAlready: boolean | undefined;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  async make(needs: Needs): Promise<BrowserDisk> {
    if (!this.#runAlready) {
      let disk: OwnDisk | undefined;
      try {
        disk = await OwnDisk.make(`${needs.profileDirectory}-disk`, await visiblePaths(needs));
        if (this.#runAlready === undefined) await disk.probe();
        this.#runAlready = false;
        return disk;
      } catch (error) {
        await disk?.remove();
        this.#runAlready = true;
        const [reason] = errorMessage(error).split('\n');
        this.#log(
          `browsers share this machine's disk, as remote ones do not: downloads and uploads may work here and not there (${reason})`,
        );
      }
    }
    return await SharedDisk.make(needs.profileDirectory);
  }
}

/**
 * This machine's disk, with a temporary directory that goes with the browser: a Chromium that is killed leaves things
 * there.
 */
class SharedDisk implements BrowserDisk {
  readonly #temporary: string;

  private constructor(temporary: string) {
    this.#temporary = temporary;
  }

  static async make(profileDirectory: string): Promise<SharedDisk> {
    // Beside the profile, with a short name: the path of Chromium's socket has a limit.
    const temporary = join(dirname(profileDirectory), basename(profileDirectory).replace(/^.*-/, 't-'));
    await mkdir(temporary);
    return new SharedDisk(temporary);
  }

  wrap({ env, ...command }: Command): Command {
    return { ...command, env: { ...env, ...temporaryDirectory(this.#temporary, process.platform) } };
  }

  async remove(): Promise<void> {
    await rm(this.#temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => undefined);
  }
}

/** The variables that make a directory Chromium's temporary one. None where its socket's path would be too long. */
export function temporaryDirectory(directory: string, platform: NodeJS.Platform): NodeJS.ProcessEnv {
  if (platform === 'win32') return { TEMP: directory, TMP: directory };
  // Chromium aborts when it cannot bind its socket. It has the machine's own directory then, whatever is left there.
  return Buffer.byteLength(directory + SOCKET) > longestSocketPath(platform) ? {} : { TMPDIR: directory };
}

/**
 * The paths of this machine that a browser needs: its profile, Chromium's directory, and what arguments name.
 */
async function visiblePaths({ profileDirectory, executable, extraArguments }: Needs): Promise<string[]> {
  const program = await realpath(executable);
  const shared = new Set(['/tmp', tmpdir(), process.cwd()]);
  const named = extraArguments.flatMap((argument) => argument.replace(/^[^=]*=/, '').split(','));
  return [
    profileDirectory,
    ...[executable, program].map((path) => (shared.has(dirname(path)) ? path : dirname(path))),
    ...named.filter((path) => path.startsWith('/') && existsSync(path)),
  ];
}
