import type { Protocol } from 'devtools-protocol';
import type { Interceptor } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import type { Meter } from './meter.ts';

/** Has a meter read along, but for downloads that are carried past the browser's network: it moves nothing for those. */
export class Metering implements Interceptor {
  readonly #meter: Meter;
  readonly #isCarried: (url: string) => boolean;

  /** @param isCarried whether requests to an address are made elsewhere than in the browser */
  constructor(meter: Meter, isCarried: (url: string) => boolean) {
    this.#meter = meter;
    this.#isCarried = isCarried;
  }

  onMessage(message: CdpMessage): CdpMessage {
    if (!this.#isCarriedDownload(message)) this.#meter.observe(message);
    return message;
  }

  #isCarriedDownload({ method, params }: CdpMessage): boolean {
    if (method !== 'Browser.downloadWillBegin') return false;
    const { url } = fieldsOf<Protocol.Browser.DownloadWillBeginEvent>(params);
    return typeof url === 'string' && this.#isCarried(url);
  }
}
