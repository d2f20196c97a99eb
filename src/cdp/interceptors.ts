import type { BridgedHosts } from './bridge/bridged-hosts.ts';
import { BackForwardCache } from './contexts/back-forward-cache.ts';
import { HiddenTargets } from './contexts/hidden-targets.ts';
import { PersistentContext, type PersistentOptions } from './contexts/persistent-context.ts';
import { Downloads } from './files/downloads.ts';
import { Uploads } from './files/uploads.ts';
import type { Meter } from './metering/meter.ts';
import { Metering } from './metering/metering.ts';
import type { InterceptorFactory } from './transport/interceptor.ts';

/** What a transport does beside carrying messages. */
export interface InterceptorOptions {
  /** The first context that Playwright asks for is the browser's own; without this, each is a new one. */
  persistent?: PersistentOptions;
  /** Counts the bytes that the browser moves. */
  meter?: Meter;
  /** Hosts that the browser's pages reach through this machine; none unless given. */
  bridge?: BridgedHosts | undefined;
  /** Called with the number of bytes each time that some have crossed the bridge, either way. */
  onBridgedBytes?: (bytes: number) => void;
}

/**
 * The interceptors for Playwright, in their order from Playwright to the browser: commands pass them from the first to
 * the last, answers and events from the last to the first. Each has the reason for its position.
 */
export async function playwrightInterceptors(options: InterceptorOptions): Promise<InterceptorFactory[]> {
  const { persistent, meter, bridge: hosts, onBridgedBytes } = options;
  const list: InterceptorFactory[] = [];
  // Next to Playwright: what it adds follows an event that Playwright has really seen.
  list.push((link) => new BackForwardCache(link));
  // Anywhere: it looks at one command that no other looks at, and at no message.
  list.push((link) => new Uploads(link));
  if (hosts) {
    // Before metering: what it tells Playwright about requests made here is not the browser's traffic.
    // Loaded only where there is a bridge: its libraries take time to load.
    const { NetworkBridge } = await import('./bridge/bridge.ts');
    list.push((link) => new NetworkBridge(link, hosts, onBridgedBytes));
  }
  // Behind the bridge, which would take its page, the one that fetches files, for one of Playwright's.
  list.push((link) => new Downloads(link));
  // Behind downloads, which hold events back: bytes count when they come. Before hidden targets: those do not count.
  if (meter) list.push(() => new Metering(meter, (url) => hosts?.matches(url) ?? false));
  // Next to the browser: what Playwright must not see, no other interceptor sees either.
  if (persistent) list.push((link) => new PersistentContext(link, persistent));
  else list.push((link) => new HiddenTargets(link));
  return list;
}
