import type { CarriedDownloads } from '../../files/carried-downloads.ts';
import type { Interceptor, InterceptorLink } from '../../transport/interceptor.ts';
import type { CdpMessage } from '../../transport/message.ts';
import type { BridgeParts, NetworkBridge } from '../bridge.ts';
import type { BridgedHosts } from '../bridged-hosts.ts';
import { BridgedSessions } from '../bridged-sessions.ts';
import { Intent, type IntentEvents, type Wish } from './intent.ts';

export interface OnDemandOptions {
  /** Hosts that every page reaches. */
  listed: BridgedHosts;
  told: IntentEvents;
  onBytes(bytes: number): void;
  downloads: CarriedDownloads;
  /** The bridge, where it is needed from the beginning; it is loaded when it is needed otherwise. */
  loaded: typeof NetworkBridge | null;
}

/**
 * A bridge that comes when the runner first goes somewhere that only it leads to ({@link Intent}). Until then it watches,
 * and what the bridge needs is not loaded: most suites never need it.
 */
export class OnDemandBridge implements Interceptor {
  readonly intent: Intent;
  readonly #link: InterceptorLink;
  readonly #parts: Pick<BridgeParts, 'onCarried' | 'downloads'>;
  readonly #sessions: BridgedSessions;
  #bridge: NetworkBridge | null = null;
  #loading: Promise<NetworkBridge> | null = null;
  /** The runner's own IDs of the commands that were held until the bridge was there. */
  readonly #held = new Map<number, number | undefined>();

  constructor(link: InterceptorLink, { listed, told, onBytes, downloads, loaded }: OnDemandOptions) {
    this.#link = link;
    this.#parts = { onCarried: onBytes, downloads };
    this.#sessions = new BridgedSessions(link.model, (sessionId, session) => this.#bridge?.begin(sessionId, session));
    this.intent = new Intent(link.model, listed, this.#sessions, told);
    if (loaded) this.#bridge = this.#make(loaded);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    this.intent.observeCommand(command);
    const wish = this.intent.wishOf(command);
    if (wish && this.intent.carry(wish)) {
      void this.#lead(command, wish);
      return null;
    }
    if (this.#bridge) return this.#bridge.onCommand(command);
    this.#sessions.observeCommand(command);
    return command;
  }

  onMessage(received: CdpMessage): CdpMessage | null {
    const message = this.#asAsked(received);
    this.intent.observe(message);
    if (this.#bridge) return this.#bridge.onMessage(message);
    this.#sessions.observe(message);
    return message;
  }

  end(): void {
    this.#bridge?.end();
  }

  /** Lets a navigation go when the browser has been told what is carried for it. Never rejects. */
  async #lead({ id, ...command }: CdpMessage, { contextId, sessionId }: Wish): Promise<void> {
    try {
      const bridge = await this.#loaded();
      await bridge.extend(contextId, this.#sessions.targetOf(sessionId));
    } finally {
      // Without it, it goes where it would go by itself.
      this.#held.set(this.#link.send(command), id);
    }
  }

  /** The answer to a command that was held has the ID that its sender knows. */
  #asAsked(message: CdpMessage): CdpMessage {
    if (this.#held.size === 0 || message.id === undefined || !this.#held.has(message.id)) return message;
    const id = this.#held.get(message.id);
    this.#held.delete(message.id);
    return { ...message, id };
  }

  #loaded(): Promise<NetworkBridge> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<NetworkBridge> {
    if (this.#bridge) return this.#bridge;
    const { NetworkBridge } = await import('../bridge.ts');
    this.#bridge = this.#make(NetworkBridge);
    return this.#bridge;
  }

  #make(Bridge: typeof NetworkBridge): NetworkBridge {
    return new Bridge(this.#link, { sessions: this.#sessions, reach: this.intent, ...this.#parts });
  }
}
