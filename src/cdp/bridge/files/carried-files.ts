import { randomUUID } from 'node:crypto';
import type { BrowserCommands } from '../../transport/interceptor.ts';
import { answerTo, type ContinueFields, type PausedRequest } from '../requests/paused-request.ts';
import { fileAnswer } from './file-answer.ts';

/** An address of no file anywhere: the browser itself says then that it has found none. */
const MISSING = `file:///poolwright-${randomUUID()}`;

/** The browser refuses these on their way to the file, which is behind the place where it stops requests. */
function needsLeave({ headers, resourceType }: PausedRequest): boolean {
  return /^(XHR|Fetch)$/.test(resourceType) || Object.keys(headers).some((name) => /^origin$/i.test(name));
}

/** Hands the browser files of this machine. */
export class CarriedFiles {
  readonly #commands: BrowserCommands;
  readonly #onCarried: (bytes: number) => void;

  /** @param onCarried told of the bytes of each file */
  constructor(commands: BrowserCommands, onCarried: (bytes: number) => void) {
    this.#commands = commands;
    this.#onCarried = onCarried;
  }

  /** Never rejects. @param changes of Playwright's */
  async carry(paused: PausedRequest, changes: ContinueFields): Promise<void> {
    const { sessionId, requestId, url } = paused;
    if (needsLeave(paused)) {
      this.#commands.post('Fetch.continueRequest', { requestId }, sessionId);
      return;
    }
    const outcome = await fileAnswer(typeof changes.url === 'string' ? changes.url : url);
    if (outcome === null) {
      this.#commands.post('Fetch.continueRequest', { requestId, url: MISSING }, sessionId);
      return;
    }
    if (!('failure' in outcome)) this.#onCarried(outcome.body.length);
    const [method, params] = answerTo(requestId, outcome);
    this.#commands.post(method, params, sessionId);
  }
}
