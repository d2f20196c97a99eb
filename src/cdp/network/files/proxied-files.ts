import { randomUUID } from 'node:crypto';
import type { BrowserCommands } from '../../transport/interceptor.ts';
import type { ProxiedTraffic } from '../proxied-traffic.ts';
import { byLowerCase } from '../proxy/headers/header-list.ts';
import { type ContinueFields, type PausedRequest, responseCommand } from '../proxy/paused-request.ts';
import { fileResponse } from './file-response.ts';

/** An address of a file that does not exist: the browser itself then reports that it is not found. */
const MISSING = `file:///poolwright-${randomUUID()}`;

/** The browser denies these after the point where it pauses requests, before it reads the file. */
function needsLeave({ headers, resourceType }: PausedRequest): boolean {
  return /^(XHR|Fetch)$/.test(resourceType) || 'origin' in byLowerCase(headers);
}

/** Gives the browser files of this machine. */
export class ProxiedFiles {
  readonly #commands: BrowserCommands;
  readonly #traffic: ProxiedTraffic | undefined;

  constructor(commands: BrowserCommands, traffic: ProxiedTraffic | undefined) {
    this.#commands = commands;
    this.#traffic = traffic;
  }

  /** Never rejects. @param changes made by the client */
  async proxy(paused: PausedRequest, changes: ContinueFields): Promise<void> {
    const { sessionId, requestId, url } = paused;
    if (needsLeave(paused)) {
      this.#commands.post('Fetch.continueRequest', { requestId }, sessionId);
      return;
    }
    const outcome = await fileResponse(typeof changes.url === 'string' ? changes.url : url);
    if (outcome === null) {
      this.#commands.post('Fetch.continueRequest', { requestId, url: MISSING }, sessionId);
      return;
    }
    if (!('failure' in outcome)) this.#traffic?.receive(outcome.body.length);
    const [method, params] = responseCommand(requestId, outcome);
    this.#commands.post(method, params, sessionId);
  }
}
