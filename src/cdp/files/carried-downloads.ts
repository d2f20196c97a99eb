import { type FileHandle, open } from 'node:fs/promises';

/** What a download is made of, read as it is wanted. */
export interface DownloadBody {
  /** About so many bytes; fewer only at its end. @throws Error when its server breaks off */
  read(bytes: number): Promise<Buffer>;
  /** The rest of it is not wanted. */
  cancel(): void;
}

/** What is read and written at once, in bytes. */
const PIECE_BYTES = 1024 * 1024;
/** How long the browser may take to begin a download after it was handed its head, in ms. */
const BEGIN_MS = 10_000;

interface Offered {
  place: string;
  body: DownloadBody;
  timer: NodeJS.Timeout;
}

/**
 * Downloads that come from this machine and are to end there: the browser is told that there is a download, and has none
 * of it. Who makes the request offers the body; who brings files here takes it in place of the browser's file.
 */
export class CarriedDownloads {
  /** Whether there is somebody who takes them: a client has said where downloads go. */
  areTaken = false;
  #offered: Offered[] = [];
  /** By the browser's ID of the download; null for one that was cancelled. */
  readonly #begun = new Map<string, DownloadBody | null>();

  /** @param frameId of the frame that has asked for it */
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

  /** Whether a download's body is here. */
  has(guid: unknown): boolean {
    return this.#begun.has(String(guid));
  }

  /**
   * Writes a download's body to a file, and returns its size in bytes.
   * @throws Error when its server breaks off, it is cancelled, or the file cannot be written
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
      // A body that is not wanted any more may end as if it were whole.
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

  /** The download is not wanted, whether or not the browser takes it for complete by now. */
  cancel(guid: unknown): void {
    if (!this.has(guid)) return;
    this.#begun.get(String(guid))?.cancel();
    this.#begun.set(String(guid), null);
  }

  /** The browser gives it up. */
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
