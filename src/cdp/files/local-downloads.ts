import { type FileHandle, open } from 'node:fs/promises';

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
  place: string;
  body: DownloadBody;
  timer: NodeJS.Timeout;
}

/**
 * Downloads that come from this machine and end here: the browser reports the download, but gets no content. The
 * network proxy offers the body; {@link Downloads} takes it instead of fetching the browser's file.
 */
export class LocalDownloads {
  /** Whether the client has set a download directory. */
  areTaken = false;
  #offered: Offered[] = [];
  /** By the browser's download ID; null for a cancelled download. */
  readonly #begun = new Map<string, DownloadBody | null>();

  /** @param frameId the frame that has requested it */
  offer(frameId: string | undefined, url: string, body: DownloadBody): void {
    const offered: Offered = {
      place: placeOf(frameId, url),
      body,
      timer: setTimeout(() => this.#drop(offered), BEGIN_MS),
    };
    offered.timer.unref();
    this.#offered.push(offered);
  }

  /** `Browser.downloadWillBegin` */
  begin({ guid, frameId, url }: { guid?: unknown; frameId?: unknown; url?: unknown }): void {
    const found = this.#offered.find(({ place }) => place === placeOf(frameId, url));
    if (!found || typeof guid !== 'string') return;
    this.#remove(found);
    this.#begun.set(guid, found.body);
  }

  /** Whether a download's body is on this machine. */
  has(guid: unknown): boolean {
    return this.#begun.has(String(guid));
  }

  /**
   * Writes a download's body to a file, and returns its size in bytes.
   * @throws Error when the server closes the connection early, the download is cancelled, or the file cannot be written
   */
  async write(guid: string, target: string): Promise<number> {
    const body = this.#begun.get(guid);
    let file: FileHandle | undefined;
    let size = 0;
    try {
      file = await open(target, 'w');
      for (let piece = await body?.read(PIECE_BYTES); piece?.length; piece = await body?.read(PIECE_BYTES)) {
        await file.writeFile(piece);
        size += piece.length;
      }
      // The body of a cancelled download may look complete.
      if (!this.#begun.get(guid)) throw new Error('cancelled');
      return size;
    } catch (error) {
      body?.cancel();
      throw error;
    } finally {
      this.#begun.delete(guid);
      await file?.close();
    }
  }

  /** The download is not needed, even if the browser considers it complete by now. */
  cancel(guid: unknown): void {
    if (!this.has(guid)) return;
    this.#begun.get(String(guid))?.cancel();
    this.#begun.set(String(guid), null);
  }

  /** The browser has given it up. */
  drop(guid: unknown): void {
    this.cancel(guid);
    this.#begun.delete(String(guid));
  }

  end(): void {
    for (const offered of this.#offered) this.#drop(offered);
    for (const guid of this.#begun.keys()) this.drop(guid);
  }

  #drop(offered: Offered): void {
    this.#remove(offered);
    offered.body.cancel();
  }

  #remove(offered: Offered): void {
    clearTimeout(offered.timer);
    this.#offered = this.#offered.filter((each) => each !== offered);
  }
}

function placeOf(frameId: unknown, url: unknown): string {
  return `${frameId} ${String(url).replace(/#.*/, '')}`;
}
