import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import type { BrowserCommands } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import type { BridgedDocument, BridgedDocuments } from './bridged-documents.ts';
import type { BridgedHosts } from './bridged-hosts.ts';
import { pageScript } from './page-script.ts';

/** A script of ours for documents of listed hosts, and what hears it. */
interface Script {
  /** What the name of its binding begins with. */
  kind: string;
  /** See {@link pageScript}. */
  source: string;
  /**
   * Called with what a listed document says: undefined for what is no JSON. A page may say anything, and a document that
   * is not listed may have come by the binding; it is not heard.
   */
  hear(document: BridgedDocument, payload: unknown): void;
}

/** A way for one of our scripts, in documents of listed hosts, to talk to this machine. Its names are new for each link. */
export class PageBinding {
  /** Of the symbol under which the page takes what it is told. */
  readonly mailbox = randomUUID();
  readonly #name: string;
  readonly #source: string;
  readonly #commands: BrowserCommands;
  readonly #documents: BridgedDocuments;
  readonly #hear: Script['hear'];

  constructor(
    commands: BrowserCommands,
    { hosts, documents }: { hosts: BridgedHosts; documents: BridgedDocuments },
    { kind, source, hear }: Script,
  ) {
    this.#commands = commands;
    this.#documents = documents;
    this.#hear = hear;
    this.#name = `${kind}${randomUUID().replaceAll('-', '')}`;
    this.#source = pageScript({ binding: this.#name, mailbox: this.mailbox }, hosts.hostExpressions, source);
  }

  /** Prepares a new page or frame, while it still waits to be let run. */
  prepare(sessionId: string): void {
    this.#commands.post('Runtime.addBinding', { name: this.#name }, sessionId);
    this.#commands.post('Page.addScriptToEvaluateOnNewDocument', { source: this.#source }, sessionId);
  }

  /** Returns null for a `Runtime.bindingCalled` of this binding. */
  onMessage(message: CdpMessage): CdpMessage | null {
    const { sessionId, params } = message;
    const { name, payload, executionContextId } = fieldsOf<Protocol.Runtime.BindingCalledEvent>(params);
    if (sessionId === undefined || name !== this.#name) return message;
    const document = this.#documents.calling(sessionId, executionContextId);
    if (document) this.#hear(document, parsed(payload));
    return null;
  }
}

function parsed(payload: unknown): unknown {
  try {
    return JSON.parse(String(payload));
  } catch {
    return undefined;
  }
}
