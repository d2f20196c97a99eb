import { type Stats, statSync } from 'node:fs';
import * as v from 'valibot';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import type { CdpMessage } from '../transport/message.ts';
import { carryFile } from './carried-file.ts';
import { CarriedFolders } from './carried-folders.ts';
import { RemoteObject } from './remote-object.ts';

const setFiles = v.looseObject({ objectId: v.string(), files: v.pipe(v.array(v.string()), v.minLength(1)) });

/**
 * Carries files and folders to a browser with another disk. Playwright takes a browser behind a transport for one on this
 * machine and tells it their paths. Here the contents of files are sent in place of that: the page gets what it gets when
 * a test gives buffers to `setInputFiles`, without the limit of 50 MB. Folders, which a page cannot make, are copied to the
 * browser's disk, and it is told of those.
 */
export class Uploads implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #folders: CarriedFolders;
  readonly #onNotCarried: (text: string) => void;

  /** @param onNotCarried called with what of an upload does not reach the browser as it is */
  constructor(link: InterceptorLink, onNotCarried: (text: string) => void = () => undefined) {
    this.#link = link;
    this.#onNotCarried = onNotCarried;
    this.#folders = new CarriedFolders(link);
  }

  /** Does what `DOM.setFileInputFiles` asks for, and answers it. A path that is not of this machine is the browser's own. */
  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = command;
    if (method !== 'DOM.setFileInputFiles' || sessionId === undefined) return command;
    const { success, output: data } = v.safeParse(setFiles, params);
    if (!success) return command;
    const input = new RemoteObject(this.#link, sessionId, data.objectId);
    const carried = this.#carry(input, data.files);
    if (carried === null) return command;
    carried.then(
      () => this.#link.deliver({ id, sessionId, result: {} }),
      ({ message }: Error) => {
        // Playwright tries again until its time is over, and never says why.
        this.#onNotCarried(`${data.files.join(', ')} was not uploaded: ${message}.`);
        this.#link.deliver({ id, sessionId, error: { code: -32_000, message: `Upload: ${message}` } });
      },
    );
    return null;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    return this.#folders.onMessage(message);
  }

  end(): void {
    this.#folders.end();
  }

  /** Null for what is not on this machine. */
  #carry(input: RemoteObject, paths: string[]): Promise<void> | null {
    const [path = '', ...others] = paths;
    if (paths.every((each) => kindOf(each)?.isFile())) return carryFiles(input, paths);
    // On Windows nobody knows whether the browser's disk has the same kind of paths.
    const isFolder = others.length === 0 && process.platform !== 'win32' && kindOf(path)?.isDirectory();
    return isFolder ? this.#carryFolder(input, path) : null;
  }

  async #carryFolder(input: RemoteObject, path: string): Promise<void> {
    const there = await this.#folders.carry(path);
    if (there === null) return await carryFiles(input, []);
    if (there.renamed.length > 0) this.#onNotCarried(renamedText(path, there.renamed));
    const { objectId, sessionId } = input;
    await this.#link.call('DOM.setFileInputFiles', { objectId, files: [there.path] }, sessionId);
  }
}

function kindOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

async function carryFiles(input: RemoteObject, paths: string[]): Promise<void> {
  const files = await input.derive('newList');
  try {
    for (const path of paths) await carryFile(files, path);
    await input.call('choose', files);
  } finally {
    files.release();
  }
}

function renamedText(path: string, names: string[]): string {
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return `${path} was uploaded with other names for ${names.slice(0, 3).join(', ')}${more}: a hosted browser has another disk, and Chromium writes no such names to it.`;
}
