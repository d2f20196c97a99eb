import type { Protocol } from 'devtools-protocol';
import type { CdpMessage } from '../../message.ts';
import { fieldsOf } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import { type ClosingEvents, shownSessions } from '../contexts/early-close.ts';

type Info = Protocol.Target.TargetInfo;
type Fields = Protocol.Target.TargetCreatedEvent & Protocol.Target.TargetDestroyedEvent;

/**
 * What Puppeteer gets when it closes a context: for the page and then for its tab, that it is detached, the end of its
 * session, and that it is destroyed. Puppeteer discovers all targets: in a context with any other target, such as a
 * second page or a service worker, only the browser knows the order.
 */
export class DestroyedTabs implements ClosingEvents {
  readonly #model: BrowserModel;
  /** The targets that Puppeteer knows, as it knows them. */
  readonly #targets = new Map<string, Info>();
  /** Contexts that are closed for Puppeteer, and their targets. */
  readonly #closing = new Map<string, Set<string>>();

  constructor(model: BrowserModel) {
    this.#model = model;
  }

  of(browserContextId: string): CdpMessage[] | null {
    const targets = [...this.#targets.values()].filter((info) => info.browserContextId === browserContextId);
    const shown = shownSessions(this.#model, browserContextId);
    const [page, tab] = ['page', 'tab'].map((type) => shown.find(({ target }) => target.type === type));
    const [pageInfo, tabInfo] = [page, tab].map((session) => this.#targets.get(session?.target.id ?? ''));
    const isEmpty = targets.length === 0 && shown.length === 0;
    const isPlain = targets.length === 2 && shown.length === 2 && page?.parent === tab && tab && !tab.parent;
    if (!isEmpty && !(isPlain && pageInfo && tabInfo)) return null;
    this.#closing.set(browserContextId, new Set(targets.map(({ targetId }) => targetId)));
    if (!page || !tab || !pageInfo || !tabInfo) return [];
    for (const { targetId } of targets) this.#targets.delete(targetId);
    return [...end(pageInfo, page.id, tab.id), ...end(tabInfo, tab.id)];
  }

  hides({ id, method = '', params, sessionId }: CdpMessage): boolean {
    if (id !== undefined || sessionId !== undefined || !method.startsWith('Target.target')) return false;
    const { targetInfo, targetId: destroyed } = fieldsOf<Fields>(params);
    const { targetId = destroyed, browserContextId } = fieldsOf<Info>(targetInfo);
    for (const [contextId, targets] of this.#closing) {
      if (contextId === browserContextId || targets.has(String(targetId))) return true;
    }
    if (method === 'Target.targetDestroyed') this.#targets.delete(String(targetId));
    else if (targetInfo !== undefined) this.#targets.set(String(targetId), targetInfo as Info);
    return false;
  }

  closed(browserContextId: string): void {
    this.#closing.delete(browserContextId);
  }
}

function end(info: Info, sessionId: string, parentId?: string): CdpMessage[] {
  const { targetId } = info;
  // A tab that is gone from its window has no more data about it.
  const targetInfo = { ...info, attached: false, embedderData: undefined };
  return [
    { method: 'Target.targetInfoChanged', params: { targetInfo } },
    {
      method: 'Target.detachedFromTarget',
      params: { sessionId, targetId },
      ...(parentId !== undefined && { sessionId: parentId }),
    },
    { method: 'Target.targetDestroyed', params: { targetId } },
  ];
}
