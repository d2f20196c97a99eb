import { existsSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorMessage } from '../../common/error-message.ts';
import { longestSocketPath } from '../../common/platform/socket-path.ts';
import { type BrowserDisk, probeDisk, separateDisk } from './separate-disk.ts';
import { removeTree } from './trees.ts';

/** Chromium makes a socket in its temporary directory. */
const SOCKET = '/org.chromium.Chromium.XXXXXX/SingletonSocket';

interface Needs {
  profileDirectory: string;
  executable: string;
  extraArguments: readonly string[];
}

/** Gives each browser a separate disk if the system supports it; otherwise logs that once. */
export class BrowserDisks {
  readonly #log: (line: string) => void;
  /** Whether browsers share this machine's disk; undefined until the first one. */
  #isShared: boolean | undefined;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  async make(needs: Needs): Promise<BrowserDisk> {
    if (!this.#isShared) {
      let disk: BrowserDisk | undefined;
      try {
        disk = await separateDisk(`${needs.profileDirectory}-disk`, await visiblePaths(needs));
        if (this.#isShared === undefined) await probeDisk(disk);
        this.#isShared = false;
        return disk;
      } catch (error) {
        await disk?.remove();
        this.#isShared = true;
        const [reason] = errorMessage(error).split('\n');
        this.#log(
          `browsers share this machine's disk, as remote ones do not: downloads and uploads may work here and not there (${reason})`,
        );
      }
    }
    return await sharedDisk(needs.profileDirectory);
  }
}

/**
 * This machine's disk, with a temporary directory that goes with the browser: a Chromium that is killed leaves things
 * there.
 */
async function sharedDisk(profileDirectory: string): Promise<BrowserDisk> {
  // Beside the profile, with a short name: the path of Chromium's socket has a limit.
  const temporary = join(dirname(profileDirectory), basename(profileDirectory).replace(/^.*-/, 't-'));
  await mkdir(temporary);
  return {
    wrap: ({ env, ...command }) => ({
      ...command,
      env: { ...env, ...temporaryDirectory(temporary, process.platform) },
    }),
    remove: () => removeTree(temporary),
  };
}

/** The variables that make a directory Chromium's temporary one. None where its socket's path would be too long. */
export function temporaryDirectory(directory: string, platform: NodeJS.Platform): NodeJS.ProcessEnv {
  if (platform === 'win32') return { TEMP: directory, TMP: directory };
  // Chromium aborts when it cannot bind its socket. It then uses the machine's directory, where files may be left.
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
