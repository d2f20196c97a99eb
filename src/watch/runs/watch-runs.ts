import { PROTOCOL_VERSION } from '../../broker/rpc/line-socket.ts';
import { probeSocket } from '../../broker/rpc/socket-address.ts';
import { type Announcement, announced } from '../../broker/watch/announcement.ts';
import type { WatchedRun, WatchedRuns, WatchPicture } from '../../broker/watch/view.ts';
import { RunConnection } from './run-connection.ts';

/** How often new runs are looked for, in ms. */
const LOOK_MS = 500;
/** How often a broker that does not respond is tried: it begins to listen within seconds, or has been killed. */
const MAX_TRIES = 5;
/** How many runs that are over are kept. */
const MAX_ENDED = 20;

type OnPicture = (run: WatchedRun, picture: WatchPicture) => Promise<void>;

/**
 * Follows the runs of this user on this machine, from now on.
 * @param onForeign called once for each run of another version of poolwright, which cannot be watched
 */
export function watchRuns(onForeign?: () => void): WatchedRuns {
  return new MachineRuns(onForeign);
}

class MachineRuns implements WatchedRuns {
  /** By address of the broker, newest last. */
  readonly #connections = new Map<string, RunConnection>();
  /** Brokers that need no attempt now: connected, of another version, or dead. */
  readonly #tried = new Set<string>();
  /** How often each broker did not respond. */
  readonly #failures = new Map<string, number>();
  readonly #changeListeners = new Set<() => void>();
  readonly #pictureListeners = new Set<OnPicture>();
  readonly #onForeign: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #isClosed = false;

  constructor(onForeign?: () => void) {
    this.#onForeign = onForeign;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#look();
  }

  get all(): WatchedRun[] {
    return [...this.#connections.values()].filter(({ isKnown }) => isKnown).reverse();
  }

  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  onPicture(listener: OnPicture): () => void {
    this.#pictureListeners.add(listener);
    return () => this.#pictureListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const connection of this.#connections.values()) connection.close();
  }

  #look(): void {
    for (const broker of announced()) {
      if (this.#tried.has(broker.token)) continue;
      this.#tried.add(broker.token);
      if (broker.version === PROTOCOL_VERSION) void this.#open(broker);
      else void probeSocket(broker.address).then((probe) => probe === 'responds' && this.#onForeign?.());
    }
  }

  async #open({ address, token }: Announcement): Promise<void> {
    const connection = this.#connections.get(address) ?? this.#add(address);
    try {
      await connection.open({ address, token });
      // It connected after the end.
      if (this.#isClosed) connection.close();
    } catch {
      // It has been killed, or does not listen yet.
      const failures = (this.#failures.get(token) ?? 0) + 1;
      this.#failures.set(token, failures);
      if (!connection.isKnown) this.#connections.delete(address);
      if (failures < MAX_TRIES) setTimeout(() => this.#tried.delete(token), 10 * LOOK_MS).unref();
    }
  }

  #add(address: string): RunConnection {
    this.#count += 1;
    const connection = new RunConnection(`run-${this.#count}`, {
      onChange: () => this.#changed(),
      onPicture: async (run, picture) => {
        await Promise.all([...this.#pictureListeners].map((listener) => listener(run, picture)));
      },
    });
    this.#connections.set(address, connection);
    return connection;
  }

  #changed(): void {
    const ended = [...this.#connections].filter(([, { isOpen, isKnown }]) => isKnown && !isOpen);
    for (const [address] of ended.slice(0, -MAX_ENDED)) this.#connections.delete(address);
    for (const listener of this.#changeListeners) listener();
  }
}
