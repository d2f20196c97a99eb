import type { CdpMessage } from '../../../../src/cdp/message.ts';
import type { InterceptorFactory } from '../../../../src/cdp/transport/interceptor.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { isOwnId } from '../../../../src/cdp/transport/own-commands.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A browser's responses, as far as interceptors use them. */
const RESULTS: Readonly<Record<string, unknown>> = {
  'Target.createBrowserContext': { browserContextId: 'context of ours' },
  'Target.createTarget': { targetId: 'target of ours' },
  'Target.attachToTarget': { sessionId: 'session of ours' },
  'Target.getBrowserContexts': { browserContextIds: [], defaultBrowserContextId: 'own' },
  'Page.createIsolatedWorld': { executionContextId: 7 },
  'Runtime.evaluate': { result: { type: 'string', value: 'en-US', objectId: 'object' } },
  'Runtime.callFunctionOn': { result: { type: 'object', objectId: 'object', value: 5 } },
  'IO.resolveBlob': { uuid: 'blob' },
  'IO.read': { data: 'hello', base64Encoded: false, eof: true },
  'Network.getCookies': { cookies: [] },
};

/**
 * One interceptor between a client and a browser that responds to every command, but only when the test tells it to.
 */
export class FakeBrowser {
  readonly toBrowser: CdpMessage[] = [];
  readonly toClient: CdpMessage[] = [];
  readonly list: InterceptorList;
  /** Called with each message that the client receives. */
  onMessage: (message: CdpMessage) => void = () => undefined;
  readonly #unanswered: CdpMessage[] = [];
  /** Sessions of a target, by its ID. */
  readonly #targets = new Map<unknown, Set<unknown>>();

  constructor(create: InterceptorFactory) {
    this.list = new InterceptorList([create], {
      toBrowser: (command) => {
        if (!isOwnId(command.id)) this.toBrowser.push(command);
        this.#unanswered.push(command);
      },
      toClient: (message) => {
        this.toClient.push(message);
        this.onMessage(message);
      },
    });
  }

  says(message: CdpMessage): void {
    const { sessionId, targetInfo } = (message.params ?? {}) as { sessionId?: unknown; targetInfo?: unknown };
    const { targetId } = (targetInfo ?? {}) as { targetId?: unknown };
    if (message.method === 'Target.attachedToTarget') {
      this.#targets.set(targetId, (this.#targets.get(targetId) ?? new Set()).add(sessionId));
    }
    if (message.method === 'Target.detachedFromTarget') {
      for (const [target, sessions] of this.#targets) {
        if (sessions.delete(sessionId) && sessions.size === 0) this.#targets.delete(target);
      }
    }
    this.list.message(message);
  }

  /** Responds to all pending commands. */
  answer(outcome: 'right' | 'empty' | 'refused' = 'right'): void {
    for (const { id, method = '', params, sessionId } of this.#unanswered.splice(0)) {
      const { targetId } = (params ?? {}) as { targetId?: unknown };
      if (method === 'Target.closeTarget') this.#close(targetId);
      const result = outcome === 'right' ? (this.#resultOf(method) ?? {}) : {};
      if (outcome === 'refused') this.list.message({ id, sessionId, error: { code: -32_000, message: 'no' } });
      else this.list.message({ id, sessionId, result });
    }
  }

  /** Responds until no command is pending. */
  async settle(): Promise<void> {
    for (let idle = 0; idle < 5; idle += 1) {
      if (this.#unanswered.length > 0) idle = 0;
      this.answer();
      await turn();
    }
  }

  #resultOf(method: string): unknown {
    if (method !== 'Target.getTargets') return RESULTS[method];
    const targetInfos = [...this.#targets.keys()].filter((targetId) => typeof targetId === 'string');
    return { targetInfos: targetInfos.map((targetId) => ({ targetId, type: 'page', browserContextId: 'own' })) };
  }

  #close(targetId: unknown): void {
    for (const sessionId of this.#targets.get(targetId) ?? []) {
      this.list.message({ method: 'Target.detachedFromTarget', params: { sessionId, targetId } });
    }
    this.#targets.delete(targetId);
  }
}
