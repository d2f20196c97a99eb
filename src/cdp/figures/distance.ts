import type { CdpMessage } from '../message.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import { isTargetGone } from '../transport/owed-responses.ts';
import type { Savings } from './savings.ts';

/** The most commands timed at once. */
const MAX_COMMANDS = 1_000;

/** Measures the latency of the browser: how long it takes to respond. */
export class Distance implements Interceptor {
  readonly #savings: Savings;
  readonly #sentAt = new Map<number, number>();

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#savings = savings;
    transport.view.onDelivered(() => savings.delivered());
  }

  onCommand(command: CdpMessage): CdpMessage {
    if (command.id !== undefined && this.#sentAt.size < MAX_COMMANDS) this.#sentAt.set(command.id, this.#savings.now());
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage {
    if (message.id === undefined) return message;
    const sentAt = this.#sentAt.get(message.id);
    if (sentAt === undefined) return message;
    this.#sentAt.delete(message.id);
    // Responses for a target that is gone come from this process, without delay.
    if (!isTargetGone(message)) this.#savings.measured(this.#savings.now() - sentAt);
    return message;
  }
}
