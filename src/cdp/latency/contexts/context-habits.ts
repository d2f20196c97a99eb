import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { commandKey } from '../pipelined-commands.ts';

type ContextFields = Protocol.Browser.SetDownloadBehaviorRequest & Protocol.Target.CreateTargetRequest;

/** How the client creates a context and its first page, command by command, learned from the last time. */
export class ContextHabits {
  #context: CdpMessage | undefined;
  #download: CdpMessage | undefined;
  #target: CdpMessage | undefined;
  #asksForWindow = false;

  /** Takes each command of the client to the browser itself. */
  learn({ method, params }: CdpMessage): void {
    if (method === 'Target.createBrowserContext') this.#context = { method, params };
    const { browserContextId, url } = fieldsOf<ContextFields>(params);
    if (browserContextId === undefined) return;
    if (method === 'Browser.setDownloadBehavior') this.#download = { method, params };
    if (method === 'Target.createTarget' && url === 'about:blank') this.#target = { method, params };
  }

  /** Takes the first command that the client sends to a page. */
  learnFirst({ method, params }: CdpMessage): void {
    this.#asksForWindow = method === 'Browser.getWindowForTarget' && commandKey({ params }) === commandKey({});
  }

  /** The command that creates a context; null until it and the following ones are known. */
  get context(): CdpMessage | null {
    return this.#download && this.#target ? (this.#context ?? null) : null;
  }

  /** The command that configures downloads in a context. */
  download(browserContextId: string): CdpMessage {
    return { ...this.#download, params: { ...fieldsOf(this.#download?.params), browserContextId } };
  }

  /** The command that creates a page. */
  target(browserContextId: string): CdpMessage {
    return { ...this.#target, params: { ...fieldsOf(this.#target?.params), browserContextId } };
  }

  /** The first command to a page. */
  first(sessionId: string): CdpMessage | null {
    return this.#asksForWindow ? { method: 'Browser.getWindowForTarget', sessionId } : null;
  }
}
