import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { pageScript } from '../page-code.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import type { ProxiedDocument, ProxiedDocuments } from './proxied-documents.ts';
import type { ProxiedTarget } from './proxied-targets.ts';

type ScriptAdded = Protocol.Page.AddScriptToEvaluateOnNewDocumentResponse;

const taken = v.looseObject({ result: v.looseObject({ value: v.optional(v.boolean()) }) });

/** Handles a message from a document; `payload` is undefined if it is not JSON. */
export type DocumentListener = (document: ProxiedDocument, payload: unknown) => void;

/**
 * Lets our script in documents of proxied hosts talk to this machine (`page/network.ts`). Its names are random for each
 * connection. Pages may send anything; messages from documents that are not proxied are ignored.
 */
export class PageBinding {
  readonly #transport: InterceptorTransport;
  readonly #documents: ProxiedDocuments;
  readonly #listeners: DocumentListener[] = [];
  readonly #name = `network${randomUUID().replaceAll('-', '')}`;
  /** The key of the symbol through which the page takes messages. */
  readonly #mailbox = randomUUID();

  constructor(transport: InterceptorTransport, documents: ProxiedDocuments) {
    this.#transport = transport;
    this.#documents = documents;
  }

  listen(listener: DocumentListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Prepares a page or frame for its next document: when it is new and still waits for the debugger, and each time it
   * reaches more hosts. Commands for a new target are sent before this returns. Once it resolves, they take effect in
   * the next document for certain: the browser process navigates, and may be faster than commands that the page has not
   * processed. Never rejects.
   * @param hostExpressions of the hosts that it reaches
   */
  async prepare(target: ProxiedTarget, hostExpressions: readonly string[]): Promise<void> {
    const given = { binding: this.#name, mailbox: this.#mailbox, hostExpressions };
    const source = pageScript('page-network.js', 'run', given);
    const { script: before, session } = target;
    if (before?.source === source) return void (await before.added);
    if (!before) this.#transport.post('Runtime.addBinding', { name: this.#name }, session.id);
    const added = this.#transport
      .call('Page.addScriptToEvaluateOnNewDocument', { source }, session.id)
      .catch(() => null);
    target.script = { source, added };
    const { identifier } = fieldsOf<ScriptAdded>(await before?.added);
    // The older script would run first and leave the new one without its binding.
    if (typeof identifier === 'string') {
      this.#transport.post('Page.removeScriptToEvaluateOnNewDocument', { identifier }, session.id);
    }
    await added;
  }

  /** Returns null for a `Runtime.bindingCalled` of this binding. */
  onMessage(message: CdpMessage): CdpMessage | null {
    const { sessionId, params } = message;
    const { name, payload, executionContextId } = fieldsOf<Protocol.Runtime.BindingCalledEvent>(params);
    if (sessionId === undefined || name !== this.#name) return message;
    const document = this.#documents.calling(sessionId, executionContextId);
    if (document) for (const listener of this.#listeners) listener(document, parsed(payload));
    return null;
  }

  /** Sends a document a message without waiting for the result. */
  post(document: ProxiedDocument, message: object): void {
    this.#transport.post('Runtime.callFunctionOn', this.#callOf(document, message), document.session.id);
  }

  /**
   * Sends a document a message and returns whether the document has accepted it.
   * @throws PoolwrightError when the document is gone
   */
  async call(document: ProxiedDocument, message: object): Promise<boolean> {
    const params = this.#callOf(document, message);
    const { result } = v.parse(
      taken,
      await this.#transport.call('Runtime.callFunctionOn', params, document.session.id),
    );
    return result.value === true;
  }

  #callOf({ uniqueId: uniqueContextId }: ProxiedDocument, message: object): Protocol.Runtime.CallFunctionOnRequest {
    return {
      uniqueContextId,
      // Not inside the script text: the message would be parsed and kept with it.
      functionDeclaration: '(mailbox, message) => globalThis[Symbol.for(mailbox)]?.(message) === true',
      arguments: [{ value: this.#mailbox }, { value: message }],
      returnByValue: true,
      silent: true,
    };
  }
}

function parsed(payload: unknown): unknown {
  try {
    return JSON.parse(String(payload));
  } catch {
    return undefined;
  }
}
