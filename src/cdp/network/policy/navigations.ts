import type { Protocol } from 'devtools-protocol';
import { withoutFragment } from '../../../common/url/parsed-url.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import type { FrameDocument } from '../../model/frames.ts';
import { Attached, SessionMap } from '../../model/per-session.ts';
import type { Target } from '../../model/session.ts';

/**
 * The initiator of a request: the test, through a command; a page of an origin that the test visits; or any other
 * page.
 */
export type Initiator = 'test' | 'own' | 'foreign';

/** A frame's navigation whose request is judged. */
export interface FrameNavigation {
  page: Target;
  frameId: string | undefined;
  method: string;
  url: string;
}

interface PageHistory {
  /** The runner has reloaded the page or moved in its history, and the next document has not come yet. */
  isAskedAgain: boolean;
  /** The last initiator of each request, by {@link keyOf}. */
  readonly initiators: Map<string, Initiator>;
}

/** Stands for frames that no longer exist: when a page comes back from history, its frames have other IDs. */
const EARLIER_FRAMES = 'earlier frames';

/**
 * What is known about a navigation besides its request: whether the runner has asked for it, and whether it repeats an
 * earlier navigation of its page (reload, back and forward). A repeated navigation keeps its first initiator: a page
 * that was denied something must not get it because the test reloads.
 */
export class Navigations {
  /** Addresses that the runner navigates to, by frame, until the response to its command. */
  readonly #asked: SessionMap<string, { url: string; command: string }>;
  /** The loader of the repeated navigation, by frame. */
  readonly #again: SessionMap<string, string>;
  /** Chromium reports the type of each navigation since version 134. */
  #kindsAreReported = false;
  readonly #pages = new Attached<Target, PageHistory>(() => ({ isAskedAgain: false, initiators: new Map() }));

  constructor(model: BrowserModel) {
    this.#asked = new SessionMap(model);
    this.#again = new SessionMap(model);
  }

  /**
   * Takes each command of the runner to a page or a frame.
   * @param target of the session that the command goes to; an out-of-process frame has the ID of its target
   */
  observeCommand({ id, method, params, sessionId }: CdpMessage, target: Target): void {
    if (method === 'Page.navigate') {
      const { url, frameId = target.id } = fieldsOf<Protocol.Page.NavigateRequest>(params);
      const asked = { url: withoutFragment(String(url)), command: `${sessionId} ${id}` };
      this.#asked.set(String(frameId), asked, sessionId);
    }
    if (method === 'Page.reload' || method === 'Page.navigateToHistoryEntry')
      this.#pages.of(target).isAskedAgain = true;
  }

  /** Takes the browser's responses and `Page.*` events. */
  observe({ id, method, sessionId, params }: CdpMessage): void {
    if (id !== undefined) {
      for (const [frameId, { command }] of this.#asked) {
        if (command === `${sessionId} ${id}`) this.#asked.delete(frameId);
      }
    } else if (method === 'Page.frameStartedNavigating') {
      const { frameId, navigationType, loaderId } = fieldsOf<Protocol.Page.FrameStartedNavigatingEvent>(params);
      this.#kindsAreReported = true;
      if (/^(reload|restore|history)/.test(String(navigationType))) {
        this.#again.set(String(frameId), String(loaderId), sessionId);
      } else this.#again.delete(String(frameId));
    }
  }

  /** A frame of a page has a new document. */
  meetDocument({ frame }: FrameDocument, page: Target): void {
    if (frame.id === page.id) this.#pages.of(page).isAskedAgain = false;
  }

  /** Whether the runner has asked for this navigation. */
  isTests({ frameId, url, method }: FrameNavigation): boolean {
    return method === 'GET' && frameId !== undefined && this.#asked.get(frameId)?.url === withoutFragment(url);
  }

  /** The first initiator of a navigation, if it repeats an earlier one of its frame. */
  before(navigation: FrameNavigation, loaderId: string): Initiator | undefined {
    const { page, frameId } = navigation;
    const { isAskedAgain, initiators } = this.#pages.of(page);
    const isAgain = this.#kindsAreReported
      ? frameId !== undefined && this.#again.get(frameId) === loaderId
      : isAskedAgain;
    if (!isAgain) return undefined;
    return initiators.get(keyOf(navigation)) ?? initiators.get(keyOf({ ...navigation, frameId: EARLIER_FRAMES }));
  }

  note(navigation: FrameNavigation, initiator: Initiator): void {
    const { page, frameId, method } = navigation;
    const { initiators } = this.#pages.of(page);
    const keep = (key: string, isForGood: boolean) => {
      if (!isForGood || initiators.get(key) !== 'foreign') initiators.set(key, initiator);
    };
    // A POST from a foreign page is never mistaken for another page's POST to the same address.
    keep(keyOf(navigation), method !== 'GET');
    if (frameId !== page.id) keep(keyOf({ ...navigation, frameId: EARLIER_FRAMES }), true);
  }
}

function keyOf({ frameId, method, url }: FrameNavigation): string {
  return `${frameId} ${method} ${withoutFragment(url)}`;
}
