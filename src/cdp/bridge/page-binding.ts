import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import { PerSession } from '../model/per-session.ts';
import { pageScript } from '../page-code.ts';
import type { InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import type { BridgedDocument, BridgedDocuments, HostsIn } from './bridged-documents.ts';

type ScriptAdded = Protocol.Page.AddScriptToEvaluateOnNewDocumentResponse;

/** A script of ours for documents of listed hosts, and what hears it. */
interface Script {
  /** What the name of its binding begins with. */
  kind: string;
  /** The built file of it, which exports `run`. */
  code: Parameters<typeof pageScript>[0];
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
  readonly #code: Script['code'];
  readonly #hostsIn: HostsIn;
  /** Of each page and frame, what its documents run now: its source, and the browser's answer to it. */
  readonly #scripts: PerSession<{ source?: string; added?: Promise<unknown> }>;
  readonly #commands: InterceptorLink;
  readonly #documents: BridgedDocuments;
  readonly #hear: Script['hear'];

  constructor(
    commands: InterceptorLink,
    { hostsIn, documents }: { hostsIn: HostsIn; documents: BridgedDocuments },
    { kind, code, hear }: Script,
  ) {
    this.#commands = commands;
    this.#scripts = new PerSession(commands.model, () => ({}));
    this.#documents = documents;
    this.#hear = hear;
    this.#name = `${kind}${randomUUID().replaceAll('-', '')}`;
    this.#hostsIn = hostsIn;
    this.#code = code;
  }

  /**
   * Prepares a page or frame for its next document: a new one while it still waits to be let run, and each time that it
   * reaches more. What is needed of a new one is on its way when this returns, and sure to run in the next document once
   * it resolves: a navigation is the browser's, and overtakes what its page has not taken in. Never rejects.
   */
  async prepare(sessionId: string): Promise<void> {
    const { hostExpressions } = this.#hostsIn(sessionId);
    const source = pageScript(this.#code, 'run', { binding: this.#name, mailbox: this.mailbox, hostExpressions });
    const script = this.#scripts.of(sessionId);
    if (!script) return;
    const before = script.added;
    if (script.source === source) return void (await before);
    if (!before) this.#commands.post('Runtime.addBinding', { name: this.#name }, sessionId);
    const added = this.#commands.call('Page.addScriptToEvaluateOnNewDocument', { source }, sessionId);
    Object.assign(script, { source, added: added.catch(() => null) });
    const { identifier } = fieldsOf<ScriptAdded>(await before);
    // The older one would run first, and leave nothing for this one.
    if (typeof identifier === 'string') {
      this.#commands.post('Page.removeScriptToEvaluateOnNewDocument', { identifier }, sessionId);
    }
    await added.catch(() => null);
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
