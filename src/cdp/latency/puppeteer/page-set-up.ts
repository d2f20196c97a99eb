import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import { commandKey } from '../pipelined-commands.ts';
import { UTILITY_WORLD } from './reads/recognised-commands.ts';

/** The two sessions of a page: Puppeteer attaches to its tab, and through that to the page. */
export type Role = 'tab' | 'page';

/** What a step follows: the announcement of a session, or the response to an earlier step. */
export type Trigger = Role | number;

/** A command that sets up a page. */
export interface Step {
  readonly role: Role;
  readonly method: string;
  /** JSON, with {@link FRAME} instead of the page's ID. */
  readonly params: string | undefined;
  readonly after: Trigger;
}

interface Observed {
  readonly contextId: string;
  readonly create: CdpMessage;
  readonly sessions: Partial<Record<Role, string>>;
  targetId: string;
  readonly steps: Step[];
  /** The step that a command of the client is, by its ID. */
  readonly asked: Map<number, number>;
  last: Trigger;
}

const FRAME = '<frame>';
/** Commands that Puppeteer sends to each page, whatever a test does. */
const ENABLES =
  /^(?:Network|Page|Runtime|Audits|Performance|Log|WebMCP)\.enable$|^Runtime\.runIfWaitingForDebugger$|^Page\.getFrameTree$|^Fetch\.disable$/;
const EMPTY_SCRIPT = '//# sourceURL=pptr:internal';

type Fields = Protocol.Page.AddScriptToEvaluateOnNewDocumentRequest &
  Protocol.Page.CreateIsolatedWorldRequest &
  Protocol.Target.SetAutoAttachRequest &
  Protocol.Network.SetCacheDisabledRequest;

/**
 * How Puppeteer creates and sets up a page, learned from the last page that it has created itself. Only commands that
 * it sends to every page count, so that nothing of a test is repeated in the next one.
 */
export class PageSetUp {
  readonly #model: BrowserModel;
  #observed: Observed | null = null;
  #create: CdpMessage | null = null;
  #steps: readonly Step[] = [];

  constructor(model: BrowserModel) {
    this.#model = model;
  }

  /** The command that creates a page in this context; null until it is known. */
  create(browserContextId: string): CdpMessage | null {
    return this.#create && { ...this.#create, params: { ...fieldsOf(this.#create.params), browserContextId } };
  }

  /** What follows it. */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  static command({ method, params }: Step, sessionId: string, targetId: string): CdpMessage {
    const filled: object | undefined = params && JSON.parse(params.replaceAll(FRAME, targetId));
    return { method, ...(filled && { params: filled }), sessionId };
  }

  /** Puppeteer does something else: what is known does not fit any more. */
  forget(): void {
    this.#create = null;
    this.#observed = null;
  }

  /** Takes a command that Puppeteer's own pages get. */
  onCommand(command: CdpMessage): void {
    const { id, method = '', params, sessionId } = command;
    const { url, browserContextId } = fieldsOf<Protocol.Target.CreateTargetRequest>(params);
    if (sessionId === undefined) {
      if (method !== 'Target.createTarget') return;
      this.#end();
      if (url !== 'about:blank' || typeof browserContextId !== 'string') return;
      this.#observed = {
        contextId: browserContextId,
        create: { method, params },
        sessions: {},
        targetId: '',
        steps: [],
        asked: new Map(),
        last: 'tab',
      };
      return;
    }
    const observed = this.#observed;
    const role = observed && (['tab', 'page'] as const).find((each) => observed.sessions[each] === sessionId);
    if (!observed || !role) return;
    if (!isSetUp(command, observed.targetId)) {
      this.#end();
      return;
    }
    if (id !== undefined) observed.asked.set(id, observed.steps.length);
    const text = params === undefined ? undefined : JSON.stringify(params);
    observed.steps.push({
      role,
      method,
      params: text?.replaceAll(observed.targetId || FRAME, FRAME),
      after: observed.last,
    });
  }

  /** Takes a message that Puppeteer gets. */
  onMessage({ id, method, params }: CdpMessage): void {
    const observed = this.#observed;
    if (!observed) return;
    if (id !== undefined) {
      const step = observed.asked.get(id);
      if (step !== undefined) observed.last = step;
    } else if (method === 'Target.attachedToTarget') {
      const session = this.#model.session(fieldsOf<Protocol.Target.AttachedToTargetEvent>(params).sessionId);
      if (!session || session.target.contextId !== observed.contextId) return;
      const { target, parent } = session;
      if (target.type === 'tab' && !parent && observed.sessions.tab === undefined) {
        Object.assign(observed, { last: 'tab' });
        observed.sessions.tab = session.id;
      } else if (target.type === 'page' && parent && parent.id === observed.sessions.tab) {
        Object.assign(observed, { last: 'page', targetId: target.id });
        observed.sessions.page = session.id;
      }
    }
  }

  #end(): void {
    const observed = this.#observed;
    this.#observed = null;
    if (!observed || observed.sessions.page === undefined) return;
    this.#create = observed.create;
    this.#steps = observed.steps;
  }
}

function isSetUp(command: CdpMessage, targetId: string): boolean {
  const { method = '', params } = command;
  const isPlain = commandKey({ params }) === commandKey({});
  if (ENABLES.test(method)) return isPlain;
  const { source, worldName, frameId, autoAttach, cacheDisabled, enabled } = fieldsOf<Fields & { enabled: boolean }>(
    params,
  );
  const isUtility = typeof worldName === 'string' && worldName.startsWith(UTILITY_WORLD);
  if (method === 'Page.setLifecycleEventsEnabled') return enabled === true;
  if (method === 'Page.addScriptToEvaluateOnNewDocument') return isUtility && source === EMPTY_SCRIPT;
  if (method === 'Page.createIsolatedWorld') return isUtility && frameId === targetId;
  if (method === 'Target.setAutoAttach') return autoAttach === true;
  return method === 'Network.setCacheDisabled' && cacheDisabled === false;
}
