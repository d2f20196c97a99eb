import type { RawData, WebSocket } from 'ws';
import { SlotPictures } from '../../broker/watch/slot-pictures.ts';
import type { FinishedTest, PictureSize, RunView, WatchedRun, WatchPicture } from '../../broker/watch/view.ts';
import { type Clock, systemClock, type Timer } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { redactText } from '../../redact.ts';
import type { ChangedRun, PictureHeader, ViewMessage } from '../messages.ts';
import { type PageMessage, parsePageMessage } from './page-messages.ts';

/** Between two messages about the runs. */
const VIEW_EVERY_MS = 100;
/** A page that has not shown a picture by then loses its demand until it has. */
const SHOWN_WITHIN_MS = 10_000;
/** WebSocket close code: the message is invalid. */
const POLICY_VIOLATION = 1008;

/** Calls of a connection to the server. */
export interface PageOwner {
  views(): RunView[];
  onDemand(): void;
  onMessage(message: Extract<PageMessage, { type: 'input' | 'release' }>): void;
}

/** Says what a page has asked for in vain. */
export function failed(what: string, error: unknown): void {
  notify(`watch: a ${what} of a page failed: ${redactText(errorMessage(error))}`);
}

/** One page: its WebSocket. */
export class PageConnection {
  readonly #socket: WebSocket;
  readonly #owner: PageOwner;
  readonly #clock: Clock;
  readonly #changes = new ViewChanges();
  /** By run and slot. */
  readonly #pictures = new Map<string, SlotPictures<WatchPicture>>();
  readonly #sent = new Map<number, { slot: SlotPictures<WatchPicture>; timer: Timer }>();
  #demand = new Map<string, PictureSize>();
  /** Numbers of pictures that were not shown in time. */
  readonly #late = new Set<number>();
  #lastNumber = 0;
  #timer: Timer | null = null;
  #isChanged = false;

  constructor(socket: WebSocket, owner: PageOwner, clock: Clock = systemClock) {
    this.#socket = socket;
    this.#owner = owner;
    this.#clock = clock;
    socket.on('message', (data, isBinary) => {
      try {
        this.#read(data, isBinary);
      } catch (error) {
        failed('message', error);
        socket.terminate();
      }
    });
    socket.on('close', () => this.#end());
    // A failing socket closes, too.
    socket.on('error', () => undefined);
    this.onChange();
  }

  /** The size that the page wants of a slot's pictures; undefined: none. */
  demandFor(run: string, slot: number): PictureSize | undefined {
    return this.#late.size > 0 ? undefined : this.#demand.get(keyOf(run, slot));
  }

  /** Sends the page the latest state, at most every {@link VIEW_EVERY_MS}. */
  onChange(): void {
    this.#isChanged = true;
    if (!this.#timer) this.#sendView();
  }

  /** Resolves when the page has shown the picture in flight; null if it wants none. */
  offer(run: WatchedRun, picture: WatchPicture): Promise<void> | null {
    const { id } = run.view;
    if (this.demandFor(id, picture.slot) === undefined) return null;
    const key = keyOf(id, picture.slot);
    let slot = this.#pictures.get(key);
    if (!slot) {
      slot = new SlotPictures((each) => this.#sendPicture(id, each));
      this.#pictures.set(key, slot);
    }
    return slot.offer(picture);
  }

  #sendView(): void {
    this.#isChanged = false;
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const message = this.#changes.next(this.#owner.views(), this.#clock.now());
    if (!message) return;
    this.#timer = this.#clock.after(VIEW_EVERY_MS, () => {
      // What the socket has not taken yet would become a queue.
      void written.then(() => {
        this.#timer = null;
        if (this.#isChanged) this.#sendView();
      });
    });
    const written = new Promise<void>((resolve) => {
      this.#socket.send(JSON.stringify(message), () => resolve());
    });
  }

  #sendPicture(run: string, picture: WatchPicture): void {
    const slot = this.#pictures.get(keyOf(run, picture.slot));
    if (!slot) return;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const { data, ...rest } = picture;
    const header: PictureHeader = { number, run, ...rest };
    const json = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(json.length);
    const timer = this.#clock.after(SHOWN_WITHIN_MS, () => {
      this.#late.add(number);
      slot.stop();
      this.#owner.onDemand();
    });
    this.#sent.set(number, { slot, timer });
    this.#socket.send(Buffer.concat([length, json, data]));
  }

  #read(data: RawData, isBinary: boolean): void {
    const message = isBinary ? null : parsePageMessage(String(data));
    if (!message) this.#socket.close(POLICY_VIOLATION);
    else if (message.type === 'demand') this.#onDemand(message.slots);
    else if (message.type === 'shown') this.#onShown(message.number);
    else this.#owner.onMessage(message);
  }

  #onDemand(slots: Extract<PageMessage, { type: 'demand' }>['slots']): void {
    this.#demand = new Map(slots.map(({ run, slot, size }) => [keyOf(run, slot), size]));
    for (const [key, pictures] of this.#pictures) if (!this.#demand.has(key)) pictures.stop();
    this.#owner.onDemand();
  }

  #onShown(number: number): void {
    const sent = this.#sent.get(number);
    if (!sent) return;
    this.#sent.delete(number);
    sent.timer.cancel();
    const wasLate = this.#late.delete(number);
    sent.slot.onShown();
    if (wasLate) this.#owner.onDemand();
  }

  #end(): void {
    this.#timer?.cancel();
    for (const { timer } of this.#sent.values()) timer.cancel();
    for (const pictures of this.#pictures.values()) pictures.stop();
    this.#demand.clear();
  }
}

function keyOf(run: string, slot: number): string {
  return `${slot} ${run}`;
}

/** The state that one page has received: it gets only changes, because a run lists up to 1,000 tests. */
class ViewChanges {
  #order = '';
  readonly #sent = new Map<string, { view: RunView; finished: Map<string, FinishedTest> }>();

  /** The message for this state; null if nothing changed. */
  next(runs: readonly RunView[], now: number): ViewMessage | null {
    const order = runs.map(({ id }) => id);
    const changed = runs.flatMap((view) => this.#change(view) ?? []);
    for (const id of this.#sent.keys()) if (!order.includes(id)) this.#sent.delete(id);
    const key = JSON.stringify(order);
    if (changed.length === 0 && key === this.#order) return null;
    this.#order = key;
    return { type: 'view', now, order, changed };
  }

  #change(view: RunView): ChangedRun | null {
    const { view: last, finished: known } = this.#sent.get(view.id) ?? { finished: new Map<string, FinishedTest>() };
    if (last === view) return null;
    const finished = new Map(view.finished.map((test) => [test.id, test]));
    this.#sent.set(view.id, { view, finished });
    return {
      ...view,
      finished: view.finished.filter((test) => test !== known.get(test.id)),
      dropped: [...known.keys()].filter((id) => !finished.has(id)),
    };
  }
}
