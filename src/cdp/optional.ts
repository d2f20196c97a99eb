import type { PersistentOptions } from './contexts/persistent-context.ts';
import type { Meter, Savings } from './figures.ts';
import type { InterceptorFactory } from './transport/interceptor.ts';

/** The client that uses a transport. */
export type Client = 'playwright' | 'puppeteer';

/** The connection of optional interceptors. */
export interface Surroundings {
  client: Client;
  /** Missing: each context is new. */
  persistent?: PersistentOptions | undefined;
  /** Whether several tests use the browser one after the other. */
  sharesBrowser?: boolean | undefined;
  savings: Savings;
  meter?: Meter | undefined;
  /** Whether requests to an address are made outside the browser. */
  isProxied(url: string): boolean;
}

/** Interceptors that a connection can do without, at the position that they need. */
export interface OptionalInterceptors {
  /** They act for the client: to all others it looks as if the client were faster. In order from the client. */
  nextToClient?(surroundings: Surroundings): InterceptorFactory[];
  /** They see what arrives from the browser when it arrives, and nothing of hidden targets. */
  onArrival?(surroundings: Surroundings): InterceptorFactory[];
}
