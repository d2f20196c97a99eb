import { type FileHandle, open } from 'node:fs/promises';
import { clearTimeout, setTimeout } from '../../common/clock.ts';

/** The content of a download, read on demand. */
export interface DownloadBody {
  /** Reads about this many bytes; fewer only at the end. @throws Error when the server closes the connection early */
  read(bytes: number): Promise<Buffer>;
  /** The rest is not needed. */
  cancel(): void;
}

/** Bytes read and written at once. */
const PIECE_BYTES = 1024 * 1024;
/** How long the browser may take to begin a download after it got the response's head, in ms. */
const BEGIN_MS = 10_000;

interface Offered {
  key: string;
  body: DownloadBody;
  timer: NodeJS.Timeout;
}

/**
 * Downloads whose requests this machine makes: the browser reports the download, but gets no content. The network proxy
 * offers the body; {@link Downloads} takes it instead of fetching the browser's file.
 */
export class ProxiedDownloads {
  /** Whether the client has set a download directory. */
  areTaken = false;
  #offered: Offered[] = [];

  /** @param frameId the frame that has requested it */
  offer(frameId: string | undefined, url: string, body: DownloadBody): void {
    const offered: Offered = {
      key: keyOf(frameId, url),
      body,
      timer: setTimeout(() => this.#remove(offered).cancel(), BEGIN_MS),
    };
    offered.timer.unref();
    this.#offered.push(offered);
  }

  /** The body of a download that the browser has begun (`Browser.downloadWillBegin`), if it is on this machine. */
  take({ frameId, url }: { frameId?: unknown; url?: unknown }): DownloadBody | undefined {
    const found = this.#offered.find(({ key }) => key === keyOf(frameId, url));
    return found && this.#remove(found);
  }

  end(): void {
    for (const offered of this.#offered) this.#remove(offered).cancel();
  }

  #remove(offered: Offered): DownloadBody {
    clearTimeout(offered.timer);
    this.#offered = this.#offered.filter((each) => each !== offered);
    return offered.body;
  }
}

/**
 * Writes a download's body to a file, and returns its size in bytes.
 * @throws Error when the server closes the connection early, or the file cannot be written
 */
export async function writeBody(body: DownloadBody, target: string): Promise<number> {
  let file: FileHandle | undefined;
  let size = 0;
  try {
    file = await open(target, 'w');
    for (let piece = await body.read(PIECE_BYTES); piece.length > 0; piece = await body.read(PIECE_BYTES)) {
      await file.writeFile(piece);
      size += piece.length;
    }
    return size;
  } catch (error) {
    body.cancel();
    throw error;
  } finally {
    await file?.close();
  }
}

function keyOf(frameId: unknown, url: unknown): string {
  return `${frameId} ${String(url).replace(/#.*/, '')}`;
}
