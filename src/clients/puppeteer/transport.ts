import type { ConnectionTransport } from 'puppeteer-core';
import { type CdpMessage, fieldsOf } from '../../cdp/message.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';

/** A command as Puppeteer knows it. */
interface Asked {
  id: number;
  sessionId: string | undefined;
}

/**
 * Gives each pending command a different ID. Puppeteer 22 and 23 count in each session from 1, so commands
 * in two sessions can have the same ID; a transport tells them apart by their IDs.
 */
export class UniqueIds {
  /** Pending commands by the ID that they are sent with. */
  readonly #pending = new Map<number, Asked>();
  #last = 0;

  /** Takes a command from Puppeteer. Returns the one to send. */
  onCommand(command: CdpMessage): CdpMessage {
    const { id, sessionId } = command;
    if (id === undefined) return command;
    const unique = this.#pending.has(id) ? this.#free() : id;
    this.#pending.set(unique, { id, sessionId });
    return unique === id ? command : { ...command, id: unique };
  }

  /** Takes a message for Puppeteer. Returns the one to deliver: the same object unless its ID changes. */
  onMessage(message: CdpMessage): CdpMessage {
    const { id, method, params } = message;
    if (id === undefined) {
      // Puppeteer expects no response in this session any more.
      if (method === 'Target.detachedFromTarget') this.#end(fieldsOf<{ sessionId: string }>(params).sessionId);
      return message;
    }
    const asked = this.#pending.get(id);
    this.#pending.delete(id);
    return !asked || asked.id === id ? message : { ...message, id: asked.id };
  }

  #end(ended: unknown): void {
    for (const [id, { sessionId }] of this.#pending) if (sessionId === ended) this.#pending.delete(id);
  }

  /** Far above what Puppeteer counts to, and within the 32 bits that Chromium accepts. */
  #free(): number {
    this.#last = (this.#last + 1) % 1_000_000_000;
    return 1_000_000_000 + this.#last;
  }
}

/** Adapts our transport to Puppeteer's interface, where messages are strings. */
export function asPuppeteerTransport(transport: CdpTransport): ConnectionTransport {
  const ids = new UniqueIds();
  const adapted: ConnectionTransport = {
    send: (text) => {
      const command = JSON.parse(text);
      const renamed = ids.onCommand(command);
      transport.send(renamed, renamed === command ? text : undefined);
    },
    close: () => transport.close(),
  };
  transport.onmessage = (message, text) => {
    const renamed = ids.onMessage(message);
    adapted.onmessage?.(renamed === message && text !== undefined ? text : JSON.stringify(renamed));
  };
  transport.onclose = () => adapted.onclose?.();
  return adapted;
}
