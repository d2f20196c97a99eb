import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { withoutFragment } from './loopback-origin.ts';

/** Who has caused a request: the test, by a command; a page of a place that the test goes to; or any other page. */
export type Initiator = 'test' | 'own' | 'foreign';

/** A navigation of a frame whose request is judged. */
export interface FrameNavigation {
  /** Target of its page, which is its main frame, too. */
  page: string;
  frameId: string | undefined;
  method: string;
  url: string;
}

/** Stands for the frames of a page that are there no longer: those that come with a page from its history have other IDs. */
const EARLIER_FRAMES = 'earlier frames';

/**
 * What is known of a navigation beside its request: whether the runner has asked for it, and whether it goes again where
 * its page has gone before (a reload, back and forward). The latter has the initiator of the first time: a page that was
 * refused something must not get it because the test reloads.
 */
export class Navigations {
  /** Addresses that the runner has asked for, by frame, until the answer to its command. */
  readonly #asked = new Map<string, { url: string; command: string }>();
  /** Pages that the runner has reloaded, or led through their history, until they have a document. */
  readonly #askedAgain = new Set<string>();
  /** By frame, the navigation that goes again, as the browser calls it. */
  readonly #again = new Map<string, string>();
  /** Chromium reports the kind of each navigation since 134. */
  #kindsAreReported = false;
  /** Whose each request was the last time, by page, and by {@link keyOf} in it. */
  readonly #initiators = new Map<string, Map<string, Initiator>>();

  /**
   * Takes each command of the runner's to a page.
   * @param page its target, which is its main frame, too
   */
  observeCommand({ id, method, params, sessionId }: CdpMessage, page: string): void {
    if (method === 'Page.navigate') {
      const { url, frameId = page } = fieldsOf<Protocol.Page.NavigateRequest>(params);
      this.#asked.set(String(frameId), { url: withoutFragment(String(url)), command: `${sessionId} ${id}` });
    }
    if (method === 'Page.reload' || method === 'Page.navigateToHistoryEntry') this.#askedAgain.add(page);
  }

  /** Takes the browser's answers and `Page.*` events. */
  observe({ id, method, sessionId, params }: CdpMessage): void {
    if (id !== undefined) {
      for (const [frameId, { command }] of this.#asked) {
        if (command === `${sessionId} ${id}`) this.#asked.delete(frameId);
      }
    } else if (method === 'Page.frameStartedNavigating') {
      const started = fieldsOf<Protocol.Page.FrameStartedNavigatingEvent>(params);
      this.#kindsAreReported = true;
      const frameId = String(started.frameId);
      if (/^(reload|restore|history)/.test(String(started.navigationType))) {
        this.#again.set(frameId, String(started.loaderId));
      } else this.#again.delete(frameId);
    } else if (method === 'Page.frameNavigated') {
      const { id: frameId } = fieldsOf<Protocol.Page.Frame>(fieldsOf<Protocol.Page.FrameNavigatedEvent>(params).frame);
      this.#askedAgain.delete(String(frameId));
    } else if (method === 'Page.frameDetached') {
      this.#again.delete(String(fieldsOf<Protocol.Page.FrameDetachedEvent>(params).frameId));
    }
  }

  /** Whether the runner has asked for this. */
  isTests({ frameId, url, method }: FrameNavigation): boolean {
    return method === 'GET' && frameId !== undefined && this.#asked.get(frameId)?.url === withoutFragment(url);
  }

  /** Whose a navigation was the first time, if it goes again where its frame has gone before. */
  before(navigation: FrameNavigation, loaderId: string): Initiator | undefined {
    const { page, frameId } = navigation;
    const isAgain = this.#kindsAreReported
      ? frameId !== undefined && this.#again.get(frameId) === loaderId
      : this.#askedAgain.has(page);
    const initiators = isAgain ? this.#initiators.get(page) : undefined;
    return initiators?.get(keyOf(navigation)) ?? initiators?.get(keyOf({ ...navigation, frameId: EARLIER_FRAMES }));
  }

  /** Keeps whose a navigation was. */
  note(navigation: FrameNavigation, initiator: Initiator): void {
    const { page, frameId, method } = navigation;
    const initiators = this.#initiators.get(page) ?? new Map<string, Initiator>();
    this.#initiators.set(page, initiators);
    const keep = (key: string, isForGood: boolean) => {
      if (!isForGood || initiators.get(key) !== 'foreign') initiators.set(key, initiator);
    };
    // What a foreign page has posted is never taken for what another has posted to the same address.
    keep(keyOf(navigation), method !== 'GET');
    if (frameId !== page) keep(keyOf({ ...navigation, frameId: EARLIER_FRAMES }), true);
  }

  /** A page is gone. */
  forget(page: string): void {
    this.#asked.delete(page);
    this.#askedAgain.delete(page);
    this.#again.delete(page);
    this.#initiators.delete(page);
  }
}

function keyOf({ frameId, method, url }: FrameNavigation): string {
  return `${frameId} ${method} ${withoutFragment(url)}`;
}
