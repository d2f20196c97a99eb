import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { commandKey } from '../sent-ahead.ts';

type ContextFields = Protocol.Browser.SetDownloadBehaviorRequest & Protocol.Target.CreateTargetRequest;

/** How the client makes a context and the first page in it, command by command: as it did the last time. */
export class ContextHabits {
  #context: CdpMessage | undefined;
  #download: CdpMessage | undefined;
  #target: CdpMessage | undefined;
  #asksForWindow = false;

  /** To be told of each of the client's commands to the browser itself. */
  learn({ method, params }: CdpMessage): void {
    if (method === 'Target.createBrowserContext') this.#context = { method, params };
    const { browserContextId, url } = fieldsOf<ContextFields>(params);
    if (browserContextId === undefined) return;
    if (method === 'Browser.setDownloadBehavior') this.#download = { method, params };
    if (method === 'Target.createTarget' && url === 'about:blank') this.#target = { method, params };
  }

  /** To be told of the first command that the client sends to a page. */
  learnFirst({ method, params }: CdpMessage): void {
    this.#asksForWindow = method === 'Browser.getWindowForTarget' && commandKey({ params }) === commandKey({});
  }

  /** How it asks for a context; null while that is not known, and what follows. */
  get context(): CdpMessage | null {
    return this.#download && this.#target ? (this.#context ?? null) : null;
  }

  /** What it says about downloads in a context. */
  download(browserContextId: string): CdpMessage {
    return { ...this.#download, params: { ...fieldsOf(this.#download?.params), browserContextId } };
  }

  /** How it asks for a page. */
  target(browserContextId: string): CdpMessage {
    return { ...this.#target, params: { ...fieldsOf(this.#target?.params), browserContextId } };
  }

  /** What it first asks a page. */
  first(sessionId: string): CdpMessage | null {
    return this.#asksForWindow ? { method: 'Browser.getWindowForTarget', sessionId } : null;
  }
}
