import type { Protocol } from 'devtools-protocol';
import { monotonicNow } from '../../../common/clock.ts';
import { pause } from '../../../common/pause.ts';
import { wildcardTest } from '../../../common/text/wildcard.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';

/** The emulated network of a target. */
export interface NetworkConditions {
  /** The session that has set them. They end with it. */
  by: string;
  isOffline: boolean;
  /** The first one that matches a request applies. */
  links: readonly EmulatedLink[];
}

type Settings = Pick<Protocol.Network.NetworkConditions, 'latency' | 'downloadThroughput' | 'uploadThroughput'>;

/** Longest single wait, in ms: timers have 32 bits. */
const MAX_WAIT_MS = 2 ** 31 - 1;

/** An emulated connection, which all requests share. */
export class EmulatedLink {
  /** Minimum time from a request to the head of its response, in ms. */
  readonly latency: number;
  readonly matches: (url: string) => boolean;
  readonly #download: Lane;
  readonly #upload: Lane;

  /** @param urlPattern matches every address if it is empty */
  constructor({ latency, downloadThroughput, uploadThroughput }: Partial<Settings>, urlPattern = '') {
    this.latency = Number(latency ?? 0);
    this.matches = wildcardTest(urlPattern === '' ? '*' : urlPattern);
    this.#download = new Lane(Number(downloadThroughput ?? -1));
    this.#upload = new Lane(Number(uploadThroughput ?? -1));
  }

  /** Resolves when so many bytes have been received. @throws the signal's reason */
  async received(bytes: number, signal: AbortSignal): Promise<void> {
    await this.#download.take(bytes, signal);
  }

  /** Resolves when so many bytes have been sent. @throws the signal's reason */
  async sent(bytes: number, signal: AbortSignal): Promise<void> {
    await this.#upload.take(bytes, signal);
  }
}

/** One direction of a connection. */
class Lane {
  /** In bytes per ms; zero for no limit. */
  readonly #rate: number;
  #freeAt = 0;

  constructor(bytesPerSecond: number) {
    this.#rate = Math.max(0, bytesPerSecond) / 1000;
  }

  async take(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#rate === 0 || bytes === 0) return;
    this.#freeAt = Math.max(this.#freeAt, monotonicNow()) + bytes / this.#rate;
    await pause(Math.min(MAX_WAIT_MS, this.#freeAt - monotonicNow()), signal);
  }
}

/** The conditions that a command sets; null for other commands. */
export function emulatedConditions({ method, params, sessionId }: CdpMessage): NetworkConditions | null {
  const by = String(sessionId);
  if (method === 'Network.emulateNetworkConditions') {
    const given = fieldsOf<Protocol.Network.EmulateNetworkConditionsRequest>(params);
    return { by, isOffline: given.offline === true, links: [new EmulatedLink(given as Partial<Settings>)] };
  }
  if (method !== 'Network.emulateNetworkConditionsByRule') return null;
  const given = fieldsOf<Protocol.Network.EmulateNetworkConditionsByRuleRequest>(params);
  const rules = Array.isArray(given.matchedNetworkConditions) ? given.matchedNetworkConditions : [];
  const links = rules.map((rule) => new EmulatedLink(rule, String(rule.urlPattern ?? '')));
  return { by, isOffline: given.offline === true, links };
}
