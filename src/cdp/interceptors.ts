import { ClientEnd } from './ahead/client-end.ts';
import { ContextsAhead } from './ahead/contexts/contexts-ahead.ts';
import { EarlyClose } from './ahead/contexts/early-close.ts';
import { Distance } from './ahead/distance.ts';
import { ReadsAhead } from './ahead/reads/reads-ahead.ts';
import type { Savings } from './ahead/savings.ts';
import { ScriptsAhead } from './ahead/scripts/scripts-ahead.ts';
import { type BridgeOptions, bridgeFactory } from './bridge/bridge-factory.ts';
import { BackForwardCache } from './contexts/back-forward-cache.ts';
import { HiddenTargets } from './contexts/hidden-targets.ts';
import { LeavesOpen } from './contexts/leaves-open.ts';
import { LostScreenshots } from './contexts/lost-screenshots.ts';
import { PersistentContext, type PersistentOptions } from './contexts/persistent-context.ts';
import { CarriedDownloads } from './files/carried-downloads.ts';
import { Downloads } from './files/downloads.ts';
import { NamedDownloads } from './files/named-downloads.ts';
import { Uploads } from './files/uploads.ts';
import type { Meter } from './metering/meter.ts';
import { Metering } from './metering/metering.ts';
import type { InterceptorFactory } from './transport/interceptor.ts';

/** Who talks through a transport. */
export type Client = 'playwright' | 'puppeteer';

/** What a transport does beside carrying messages. */
export interface InterceptorOptions extends BridgeOptions {
  /** `'playwright'` unless given. */
  client?: Client;
  /** Playwright only: the first context that it asks for is the browser's own; without this, each is a new one. */
  persistent?: PersistentOptions | undefined;
  /** Counts the bytes that the browser moves. */
  meter?: Meter | undefined;
  /** Called with what of an upload does not reach the browser as it is. */
  onNotCarried?: (text: string) => void;
  /** Takes down how far away the browser is. */
  distance?: Savings | undefined;
  /** Playwright only: hides round trips to a browser that is far away. */
  ahead?: AheadOptions | undefined;
}

/** What is sent ahead. */
export interface AheadOptions {
  /** Takes down what is saved. */
  savings: Savings;
  /** Whether more tests are to come on this link, for which contexts can be made. */
  contexts: boolean;
}

/**
 * The interceptors in their order from the client to the browser: commands pass them from the first to the last, answers
 * and events from the last to the first. Each has the reason for its position.
 */
export async function interceptorsFor(options: InterceptorOptions): Promise<InterceptorFactory[]> {
  const { client = 'playwright', persistent, meter } = options;
  const isPlaywright = client === 'playwright';
  const list = isPlaywright ? nextToPlaywright(options) : [];
  // At the client's end: what it answers never happens.
  if (!isPlaywright) list.push((link) => new LeavesOpen(link));
  // Behind what stands in the client's place: a screenshot is asked for again whoever has asked for it.
  list.push((link) => new LostScreenshots(link));
  const downloads = new CarriedDownloads();
  const bridge = await bridgeFactory({ ...options, downloads });
  // Before metering: what it tells the client about requests made here is not the browser's traffic.
  if (bridge) list.push(bridge.create);
  // Behind the bridge, which would take its page, the one that fetches files, for one of the client's.
  list.push((link) => (isPlaywright ? new Downloads(link, downloads) : new NamedDownloads(link, downloads)));
  // Behind downloads, which would bring those here by which it puts folders on the browser's disk.
  list.push((link) => new Uploads(link, options.onNotCarried));
  // Behind downloads, which hold events back: bytes count when they come. Before hidden targets: those do not count.
  if (meter) list.push((link) => new Metering(link, meter, (url) => bridge?.carries(url) ?? false));
  // Next to the browser: what the client must not see, no other interceptor sees either.
  if (persistent) list.push((link) => new PersistentContext(link, persistent));
  else list.push((link) => new HiddenTargets(link));
  // At the very end: what takes its time there is the way to the browser and nothing else.
  const savings = options.ahead?.savings ?? options.distance;
  if (savings) list.push(() => new Distance(savings));
  return list;
}

/** Those that do for Playwright what no other client needs. */
function nextToPlaywright({ persistent, ahead }: InterceptorOptions): InterceptorFactory[] {
  const list: InterceptorFactory[] = [];
  // Before all: it sees what Playwright is told, whoever says it.
  if (ahead) list.push(() => new ClientEnd(ahead.savings));
  // Next to Playwright: what it adds follows an event that Playwright has really seen, and is put into no script of ours.
  list.push((link) => new BackForwardCache(link));
  if (!ahead) return list;
  // Those that send ahead stand in Playwright's place: to all others it looks as if Playwright were there sooner.
  // A persistent context is not made, but swept and used again: Playwright has to wait until that is done.
  if (!persistent && ahead.contexts) {
    // Before the one that makes contexts: what that one has not shown yet is not Playwright's to close.
    list.push((link) => new EarlyClose(link, ahead.savings));
    list.push((link) => new ContextsAhead(link, ahead.savings));
  }
  list.push((link) => new ScriptsAhead(link, ahead.savings));
  list.push((link) => new ReadsAhead(link, ahead.savings));
  return list;
}
