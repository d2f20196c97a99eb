import type { CdpMessage } from '../../../src/cdp/message.ts';

interface Command extends CdpMessage {
  id: number;
  /** Chromium will not respond to it. */
  isLost?: boolean;
}

interface Page {
  readonly targetId: string;
  readonly contextId: string | undefined;
  /** The session that the client was attached in, and the session of a frame within it. */
  readonly sessionId: string;
  child: string | undefined;
  hasCrashed: boolean;
  document: number;
  /** JavaScript contexts of the document, and the number of objects in each. */
  worlds: Map<number, number>;
}

/** Commands whose responses are lost with their renderer process. */
const RENDERER = /^(?:Runtime|DOM|Input|Page\.(?!navigate|reload|close|captureScreenshot))/;

/**
 * A browser that responds in any order, and omits the responses that Chromium omits; measured in
 * `src/cdp/transport/owed-responses.ts` and `src/cdp/contexts/lost-screenshots.ts`.
 */
export class ModelBrowser {
  readonly #pages: Page[] = [];
  readonly #contexts = new Set<string>();
  readonly #say: (message: CdpMessage) => void;
  #commands: Command[] = [];
  #last = 0;

  readonly #hasTabs: boolean;

  /**
   * @param say called with each message of the browser
   * @param hasTabs whether pages are attached to through their tabs, and targets are reported, as Puppeteer requests it
   */
  constructor(say: (message: CdpMessage) => void, hasTabs = false) {
    this.#say = say;
    this.#hasTabs = hasTabs;
  }

  get isIdle(): boolean {
    return this.#commands.every(({ isLost }) => isLost);
  }

  receives(command: CdpMessage): void {
    const { id = 0, sessionId, method = '' } = command;
    const page = this.#pageOf(sessionId);
    const isOfRenderer = RENDERER.test(method) && page !== undefined && sessionId !== this.#parentOf(page);
    this.#commands.push({ ...command, id, isLost: isOfRenderer && page.hasCrashed });
  }

  /** Responds to one of the commands. */
  answer(number: number): void {
    const open = this.#commands.filter(({ isLost }) => !isLost);
    const command = open[number % open.length];
    if (!command) return;
    this.#commands = this.#commands.filter((each) => each !== command);
    const { id, sessionId } = command;
    const isGone = sessionId !== undefined && !this.#pageOf(sessionId);
    const error = { code: -32_001, message: 'Session with given id not found.' };
    this.#say(isGone ? { id, error } : { id, sessionId, ...this.#outcome(command) });
  }

  /** A page gets a new document. @param isLate screenshots of the previous document are refused, not lost */
  navigate(number: number, isLate = false): void {
    const page = this.#pages[number % this.#pages.length];
    if (!page) return;
    const { sessionId, targetId } = page;
    for (const command of this.#commands.filter((each) => each.sessionId === sessionId)) {
      const { id, method = '' } = command;
      if (method === 'Page.captureScreenshot' && !isLate) command.isLost = true;
      const message = page.hasCrashed ? 'Target crashed' : 'Inspected target navigated or closed';
      const isRefused = method === 'Page.captureScreenshot' ? isLate : method.startsWith('Runtime.');
      if (!isRefused && !(page.hasCrashed && RENDERER.test(method))) continue;
      this.#commands = this.#commands.filter((each) => each !== command);
      const text = method === 'Page.captureScreenshot' ? 'Not attached to an active page' : message;
      this.#say({ id, sessionId, error: { code: -32_000, message: text } });
    }
    page.hasCrashed = false;
    page.document += 1;
    page.worlds.clear();
    this.#say({ method: 'Runtime.executionContextsCleared', params: {}, sessionId });
    const frame = { id: targetId, loaderId: `document ${page.document}`, url: 'http://127.0.0.1:1/' };
    this.#say({ method: 'Page.frameNavigated', params: { frame }, sessionId });
    for (const name of ['', 'client world']) this.#addWorld(page, name);
    this.#say({ method: 'Page.frameStoppedLoading', params: { frameId: targetId }, sessionId });
  }

  crash(number: number): void {
    const page = this.#pages[number % this.#pages.length];
    if (!page || page.hasCrashed) return;
    page.hasCrashed = true;
    for (const command of this.#commands) {
      const isLost = RENDERER.test(command.method ?? '') || command.method === 'Page.captureScreenshot';
      if (command.sessionId === page.sessionId && isLost) command.isLost = true;
    }
    this.#endChild(page);
    this.#say({ method: 'Inspector.targetCrashed', params: {}, sessionId: page.sessionId });
  }

  /** A page closes. @param isTold whether the end of its frame's session is announced too */
  close(number: number, isTold: boolean): void {
    const page = this.#pages[number % this.#pages.length];
    if (page) this.#end(page, isTold);
  }

  /** A different event of a page. */
  event(number: number): void {
    const page = this.#pages[number % this.#pages.length];
    if (!page) return;
    const { sessionId, targetId } = page;
    const url = number % 2 > 0 ? 'http://127.0.0.1:1/x' : 'http://elsewhere.example/';
    const request = { url, method: 'GET', headers: {} };
    const requestId = `request ${++this.#last}`;
    const events: CdpMessage[] = [
      { method: 'Fetch.requestPaused', sessionId, params: { requestId, frameId: targetId, request } },
      { method: 'Page.javascriptDialogOpening', sessionId, params: {} },
      { method: 'Browser.downloadWillBegin', params: { guid: 'file', url, frameId: targetId } },
      { method: 'Browser.downloadProgress', params: { guid: 'file', state: 'completed', receivedBytes: 5 } },
    ];
    const event = events[Math.floor(number / 2) % events.length];
    if (event) this.#say(event);
  }

  open(contextId?: string): string {
    const number = ++this.#last;
    const page: Page = {
      targetId: `target ${number}`,
      contextId,
      sessionId: `session ${number}`,
      child: this.#hasTabs ? undefined : `frame ${number}`,
      hasCrashed: false,
      document: 0,
      worlds: new Map(),
    };
    this.#pages.push(page);
    const { sessionId, targetId, child } = page;
    if (this.#hasTabs) this.#attach(undefined, tabOf(sessionId), this.#info(tabOf(targetId), 'tab', contextId));
    this.#attach(this.#parentOf(page), sessionId, this.#info(targetId, 'page', contextId));
    if (child !== undefined) this.#attach(sessionId, child, this.#info(child, 'iframe', contextId));
    this.#addWorld(page, '');
    return page.targetId;
  }

  #parentOf({ sessionId }: Page): string | undefined {
    return this.#hasTabs ? tabOf(sessionId) : undefined;
  }

  #info(targetId: string, type: string, browserContextId: string | undefined): object {
    const targetInfo = { targetId, type, browserContextId };
    if (this.#hasTabs) this.#say({ method: 'Target.targetCreated', params: { targetInfo } });
    return targetInfo;
  }

  #attach(parent: string | undefined, sessionId: string, targetInfo: object): void {
    const params = { sessionId, targetInfo, waitingForDebugger: true };
    this.#say({ method: 'Target.attachedToTarget', params, ...(parent !== undefined && { sessionId: parent }) });
  }

  #lose(sessionId: string | undefined): void {
    for (const command of this.#commands) {
      if (sessionId !== undefined && command.sessionId === sessionId) command.isLost = true;
    }
  }

  #endChild(page: Page): void {
    const { sessionId, child } = page;
    if (child === undefined) return;
    page.child = undefined;
    this.#lose(child);
    this.#say({ method: 'Target.detachedFromTarget', params: { sessionId: child }, sessionId });
  }

  #end(page: Page, isTold: boolean): void {
    const { sessionId, child, targetId } = page;
    this.#pages.splice(this.#pages.indexOf(page), 1);
    if (isTold) this.#endChild(page);
    else this.#lose(child);
    this.#lose(sessionId);
    const parent = this.#parentOf(page);
    this.#detach(sessionId, targetId, parent);
    if (parent === undefined) return;
    this.#lose(parent);
    this.#detach(parent, tabOf(targetId));
  }

  #detach(sessionId: string, targetId: string, parent?: string): void {
    const event = { method: 'Target.detachedFromTarget', params: { sessionId, targetId } };
    this.#say(parent === undefined ? event : { ...event, sessionId: parent });
    if (this.#hasTabs) this.#say({ method: 'Target.targetDestroyed', params: { targetId } });
  }

  #outcome({ method = '', params, sessionId }: Command): Pick<CdpMessage, 'result' | 'error'> {
    const fields = (params ?? {}) as Record<string, unknown>;
    const contextId = fields.browserContextId as string | undefined;
    const page = this.#pageOf(sessionId);
    switch (method) {
      case 'Target.createBrowserContext': {
        const browserContextId = `context ${++this.#last}`;
        this.#contexts.add(browserContextId);
        return { result: { browserContextId } };
      }
      case 'Target.disposeBrowserContext':
        if (!this.#contexts.delete(contextId ?? '')) return refused('Failed to find context');
        for (const each of this.#pages.filter((one) => one.contextId === contextId)) this.#end(each, true);
        return { result: {} };
      case 'Target.createTarget':
        if (contextId !== undefined && !this.#contexts.has(contextId)) return refused('Failed to find browser context');
        return { result: { targetId: this.open(contextId) } };
      case 'Target.closeTarget': {
        const closed = this.#pages.find(({ targetId }) => targetId === fields.targetId);
        if (closed) this.#end(closed, true);
        return closed ? { result: {} } : refused('No target with given id found');
      }
      case 'Target.getTargets': {
        const targetInfos = this.#pages.map(({ targetId, contextId: of }) => ({
          targetId,
          type: 'page',
          browserContextId: of,
        }));
        return { result: { targetInfos } };
      }
      case 'Target.getBrowserContexts':
        return { result: { browserContextIds: [...this.#contexts], defaultBrowserContextId: 'own' } };
      case 'Target.attachToTarget': {
        const found = this.#pages.find(({ targetId }) => targetId === fields.targetId);
        return found ? { result: { sessionId: found.sessionId } } : refused('No target with given id found');
      }
      case 'Browser.getVersion':
        return { result: { product: 'HeadlessChrome/156' } };
      default:
        return this.#outcomeInPage(method, fields, page);
    }
  }

  #outcomeInPage(
    method: string,
    fields: Record<string, unknown>,
    page: Page | undefined,
  ): Pick<CdpMessage, 'result' | 'error'> {
    switch (method) {
      case 'Page.createIsolatedWorld':
        return page
          ? { result: { executionContextId: this.#addWorld(page, String(fields.worldName)) } }
          : { result: {} };
      case 'Runtime.evaluate':
      case 'Runtime.callFunctionOn': {
        const world = fields.contextId ?? fields.executionContextId ?? String(fields.objectId).split('.')[1];
        const object = this.#addObject(page, Number(world));
        return object ? { result: { result: object } } : refused('Cannot find context with specified id');
      }
      case 'DOM.describeNode':
        return { result: { node: { backendNodeId: Number(String(fields.objectId).split('.')[2]) } } };
      case 'DOM.resolveNode': {
        const object = this.#addObject(page, Number(fields.executionContextId));
        return object ? { result: { object } } : refused('Node with given id does not belong to the document');
      }
      case 'IO.resolveBlob':
        return { result: { uuid: 'blob' } };
      case 'IO.read':
        return { result: { data: 'hello', base64Encoded: false, eof: true } };
      default:
        return { result: {} };
    }
  }

  #addObject(page: Page | undefined, world: number): object | null {
    const count = page?.worlds.get(world);
    if (!page || count === undefined) return null;
    page.worlds.set(world, count + 1);
    return { type: 'object', className: 'Made', objectId: `1.${world}.${count + 1}` };
  }

  #addWorld(page: Page, name: string): number {
    const id = ++this.#last;
    page.worlds.set(id, 0);
    const auxData = { isDefault: name === '', frameId: page.targetId };
    const context = { id, uniqueId: `world ${id}`, origin: 'http://127.0.0.1:1', name, auxData };
    this.#say({ method: 'Runtime.executionContextCreated', params: { context }, sessionId: page.sessionId });
    return id;
  }

  #pageOf(sessionId: string | undefined): Page | undefined {
    if (sessionId === undefined) return undefined;
    return this.#pages.find((page) => [page.sessionId, page.child, this.#parentOf(page)].includes(sessionId));
  }
}

/** The ID of a page's tab, or of the session on it. */
function tabOf(id: string): string {
  return `tab of ${id}`;
}

function refused(message: string) {
  return { error: { code: -32_000, message } };
}
