import type { CdpMessage } from '../message.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import type { FilmedPages } from './filmed-pages.ts';
import type { Screencast } from './screencast.ts';

/** Loads {@link FilmedPages} when somebody wants pictures or takes over. Most connections never do. */
export class Filming implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #screencast: Screencast;
  #pages: FilmedPages | null;
  #hasEnded = false;

  /** @param loaded if there is a receiver from the start */
  constructor(transport: InterceptorTransport, screencast: Screencast, loaded?: typeof FilmedPages) {
    this.#transport = transport;
    this.#screencast = screencast;
    this.#pages = loaded ? this.#make(loaded) : null;
    screencast.connect(async () => {
      if (!this.#pages) {
        const Loaded = await loadFilmedPages();
        if (this.#hasEnded) return null;
        this.#pages ??= this.#make(Loaded);
      }
      return this.#pages;
    });
  }

  onMessage(message: CdpMessage): CdpMessage {
    this.#pages?.observe(message);
    return message;
  }

  end(): void {
    this.#hasEnded = true;
    this.#pages?.end();
  }

  #make(Loaded: typeof FilmedPages): FilmedPages {
    return new Loaded(this.#transport, this.#screencast);
  }
}

export async function loadFilmedPages(): Promise<typeof FilmedPages> {
  return (await import('./filmed-pages.ts')).FilmedPages;
}
