import type { Interceptor } from '../transport/interceptor.ts';
import type { CdpMessage } from '../transport/message.ts';
import type { Savings } from './savings.ts';

/** Tells by what the client is told which of its commands it sends together. */
export class ClientEnd implements Interceptor {
  readonly #savings: Savings;

  constructor(savings: Savings) {
    this.#savings = savings;
  }

  onMessage(message: CdpMessage): CdpMessage {
    this.#savings.told();
    return message;
  }
}
