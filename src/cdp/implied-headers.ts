import { z } from 'zod';
import type { OwnCommands } from './own-commands.ts';

/** Where a request comes from. */
interface Sender {
  sessionId: string;
  /** Of its browser context. */
  contextId: string;
  /** A page or a frame; else a worker. */
  isDocument: boolean;
  /** The request is for a document: no script has given it headers. */
  isNavigation: boolean;
}

type Headers = Record<string, string>;

const createdWorld = z.looseObject({ executionContextId: z.number().int() });
const evaluated = z.looseObject({ result: z.looseObject({ value: z.string() }) });

/** A page that does not answer sends its requests without, in ms. */
const ANSWER_MS = 1_000;
const LANGUAGE = 'accept-language';
const AGENT = 'user-agent';

/**
 * Headers that the browser adds after it has stopped a request, so that a carried one would be without: the languages,
 * and of a worker's script the user agent too. Not made up: `Sec-Fetch-*`, which servers take for a promise.
 */
export class ImpliedHeaders {
  readonly #commands: OwnCommands;
  readonly #languages = new Map<string, Promise<string | null>>();
  /** What the last page of a context sent: its workers send the same. */
  readonly #byContext = new Map<string, Headers>();

  constructor(commands: OwnCommands) {
    this.#commands = commands;
  }

  /** Asks a new page for its languages. Once it is on its way somewhere, it answers only when it has arrived. */
  prepare(sessionId: string, frameId: string): void {
    this.#languages.set(sessionId, this.#ask(sessionId, frameId));
  }

  async complete(headers: Headers, { sessionId, contextId, isDocument, isNavigation }: Sender): Promise<Headers> {
    const given = lowerCase(headers);
    const known = this.#byContext.get(contextId) ?? {};
    if (!isDocument) return { ...known, ...given };
    const asked = (await this.#languages.get(sessionId)) ?? known[LANGUAGE];
    // A script may give one request other languages; no other request has them.
    const language = (isNavigation ? given[LANGUAGE] : undefined) ?? asked;
    const agent = given[AGENT] ?? known[AGENT];
    this.#byContext.set(contextId, { ...(language && { [LANGUAGE]: language }), ...(agent && { [AGENT]: agent }) });
    return language ? { [LANGUAGE]: language, ...given } : given;
  }

  /** A page is gone. */
  forget(sessionId: string): void {
    this.#languages.delete(sessionId);
  }

  async #ask(sessionId: string, frameId: string): Promise<string | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, ANSWER_MS, null);
    });
    const answer = this.#evaluate(sessionId, frameId).catch(() => null);
    const languages = await Promise.race([answer, late]).finally(() => clearTimeout(timer));
    return languages ? withWeights(languages.split(',')) : null;
  }

  /** In a world of its own: who opened the page may have put other languages into the page's. */
  async #evaluate(sessionId: string, frameId: string): Promise<string> {
    const world = await this.#commands.call('Page.createIsolatedWorld', { frameId }, sessionId);
    const { executionContextId: contextId } = createdWorld.parse(world);
    const expression = 'navigator.languages.join()';
    const answer = await this.#commands.call(
      'Runtime.evaluate',
      { expression, contextId, returnByValue: true },
      sessionId,
    );
    return evaluated.parse(answer).result.value;
  }
}

function lowerCase(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** As Chromium weighs them: `de-DE,de;q=0.9,en-US;q=0.8`. */
function withWeights(languages: string[]): string {
  const weight = (index: number) => Math.max(1, 10 - index) / 10;
  return languages.map((language, index) => (index === 0 ? language : `${language};q=${weight(index)}`)).join(',');
}
