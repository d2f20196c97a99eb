import { isTargetGone } from '../transport/browser-responses.ts';
import type { Interceptor } from '../transport/interceptor.ts';
import type { CdpMessage } from '../transport/message.ts';
import type { Savings } from './savings.ts';

/** Of so many commands at once the time is taken. */
const MAX_COMMANDS = 1_000;

/** Measures how far away the browser is: how long it takes to answer. */
export class Distance implements Interceptor {
  readonly #savings: Savings;
  readonly #sentAt = new Map<number, number>();

  constructor(savings: Savings) {
    this.#savings = savings;
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
    // What a target that is gone leaves behind is answered on this side, in no time.
    if (!isTargetGone(message)) this.#savings.measured(this.#savings.now() - sentAt);
    return message;
  }
}
