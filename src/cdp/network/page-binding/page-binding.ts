import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { parsedJson } from '../../../common/text/parsed-json.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { Session } from '../../model/session.ts';
import { pageScript } from '../../page-code.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { ProxiedTarget, ScriptPurpose } from '../request/proxied-targets.ts';
import type { ProxiedDocument, ProxiedDocuments } from './proxied-documents.ts';

type ScriptAdded = Protocol.Page.AddScriptToEvaluateOnNewDocumentResponse;

const taken = v.looseObject({ result: v.looseObject({ value: v.optional(v.boolean()) }) });
const evaluated = v.looseObject({ result: v.looseObject({ objectId: v.string() }) });

/** Handles a message from a document or worker; `payload` is undefined if it is not JSON. */
export type DocumentListener = (document: ProxiedDocument, payload: unknown) => void;

/** Expressions for `host:port`, see {@link ProxiedHosts}. */
interface Hosts {
  /** What is, or may become, proxied. */
  candidates: readonly string[];
  /** What is proxied. */
  hosts: readonly string[];
}

/**
 * Lets our script in documents and workers of proxied hosts talk to this machine (`page/network.ts`). Its names are
 * random for each connection. Pages may send anything; messages from documents that are not proxied are ignored.
 *
 * The script runs before the client's scripts, which may replace the same functions (`routeWebSocket`): they wrap ours.
 * What is proxied may change later, so the script gets that in a message.
 */
export class PageBinding {
  readonly #transport: InterceptorTransport;
  readonly #documents: ProxiedDocuments;
  readonly #everywhere: readonly string[];
  readonly #listeners: DocumentListener[] = [];
  readonly #name = `network${randomUUID().replaceAll('-', '')}`;
  /** The key of the symbol through which the page takes messages. */
  readonly #mailbox = randomUUID();
  /** What takes messages in a worker: the ID of a function. Undefined if the script does not run there. */
  readonly #workers = new WeakMap<ProxiedDocument, Promise<string | undefined>>();

  /** @param everywhere what every page reaches, as expressions for `host:port` */
  constructor(transport: InterceptorTransport, documents: ProxiedDocuments, everywhere: readonly string[]) {
    this.#transport = transport;
    this.#everywhere = everywhere;
    this.#documents = documents;
  }

  listen(listener: DocumentListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Installs our script in a page or frame, from its next document on, or now if the target is new: a popup may keep
   * its empty document. The commands are sent before this returns.
   */
  install(target: ProxiedTarget, candidates: readonly string[], isNew: boolean): Promise<void> {
    const { id } = target.session;
    if (isNew) {
      // Only a world that exists gets the binding before the client enables the Runtime domain.
      this.#transport.post('Runtime.evaluate', { expression: '' }, id);
      // Without it, the browser runs no script in the present document.
      this.#transport.post('Page.enable', {}, id);
    }
    if (!target.scripts.install) this.#transport.post('Runtime.addBinding', { name: this.#name }, id);
    return this.#put(target, 'install', this.#script(candidates), { isNow: isNew, isNew });
  }

  /**
   * Prepares a page or frame for its next document: when it is new and still waits for the debugger, and each time it
   * reaches more hosts. Commands for a new target are sent before this returns. Once it resolves, they take effect in
   * the next document for certain: the browser process navigates, and may be faster than commands that the page has not
   * processed. Never rejects.
   */
  async prepare(target: ProxiedTarget, { candidates, hosts }: Hosts, isNew = false): Promise<void> {
    const installed = this.install(target, candidates, isNew);
    const reach = JSON.stringify({ op: 'reach', hostExpressions: hosts });
    const source = `globalThis[Symbol.for(${JSON.stringify(this.#mailbox)})]?.(${reach})`;
    // Open documents reach the new hosts, too.
    await Promise.all([installed, this.#put(target, 'reach', source, { isNow: true, isNew })]);
  }

  /** Runs our script in a worker that waits for the debugger. */
  prepareWorker(session: Session, { candidates, hosts }: Hosts): void {
    const worker = this.#documents.worker(session);
    this.#transport.post('Runtime.addBinding', { name: this.#name }, session.id);
    const reach = JSON.stringify({ op: 'reach', hostExpressions: hosts });
    const expression = `((take) => { take?.(${reach}); return take; })(${this.#script(candidates)})`;
    const mailbox = this.#transport.call('Runtime.evaluate', { expression }, session.id).then(
      (result) => (v.is(evaluated, result) ? result.result.objectId : undefined),
      () => undefined,
    );
    this.#workers.set(worker, mailbox);
  }

  #script(hostExpressions: readonly string[]): string {
    const [binding, mailbox, everywhere] = [this.#name, this.#mailbox, this.#everywhere];
    return pageScript('page-network.js', 'run', { binding, mailbox, hostExpressions, everywhere });
  }

  /** Adds a script for new documents in place of the one with the same purpose. Never rejects. */
  async #put(
    { session, scripts, isHeld }: ProxiedTarget,
    purpose: ScriptPurpose,
    source: string,
    { isNow, isNew }: { isNow: boolean; isNew: boolean },
  ) {
    const before = scripts[purpose];
    if (before?.source === source) {
      if (!before.isFirst) await before.added;
      return;
    }
    const params = { source, ...(isNow && { runImmediately: true }) };
    const added = this.#transport.call('Page.addScriptToEvaluateOnNewDocument', params, session.id).catch(() => null);
    scripts[purpose] = { source, added, isFirst: isNew && isHeld };
    const { identifier } = fieldsOf<ScriptAdded>(await before?.added);
    // The older script would run first.
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
    if (document) for (const listener of this.#listeners) listener(document, parsedJson(String(payload)));
    return null;
  }

  /** Sends a document a message without waiting for the result. */
  post(document: ProxiedDocument, message: object): void {
    const mailbox = this.#workers.get(document);
    if (mailbox) void this.#postToWorker(document, mailbox, message);
    else this.#transport.post('Runtime.callFunctionOn', this.#callOf(document, message), document.session.id);
  }

  async #postToWorker({ session }: ProxiedDocument, mailbox: Promise<string | undefined>, message: object) {
    const objectId = await mailbox;
    if (objectId === undefined) return;
    const functionDeclaration = 'function (message) { this(message); }';
    const params = { objectId, functionDeclaration, arguments: [{ value: message }], silent: true };
    this.#transport.post('Runtime.callFunctionOn', params, session.id);
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
