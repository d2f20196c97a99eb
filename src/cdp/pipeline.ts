import { BackForwardCache } from './contexts/back-forward-cache.ts';
import { BrowserHealth } from './contexts/browser-health.ts';
import { HiddenTargets } from './contexts/hidden-targets.ts';
import { KeepBrowserOpen } from './contexts/keep-browser-open.ts';
import { LostScreenshots } from './contexts/lost-screenshots.ts';
import { PersistentContext, type PersistentOptions } from './contexts/persistent-context.ts';
import { Downloads } from './files/downloads.ts';
import { LocalDownloads } from './files/local-downloads.ts';
import { Uploads } from './files/uploads.ts';
import { EarlyClose } from './latency/contexts/early-close.ts';
import { PreparedContexts } from './latency/contexts/prepared-contexts.ts';
import { Windows } from './latency/contexts/windows.ts';
import { Distance } from './latency/distance.ts';
import { DestroyedTabs } from './latency/puppeteer/destroyed-tabs.ts';
import { PreparedPages } from './latency/puppeteer/prepared-pages.ts';
import { PuppeteerReads } from './latency/puppeteer/reads/puppeteer-reads.ts';
import { PipelinedReads } from './latency/reads/pipelined-reads.ts';
import { Savings } from './latency/savings.ts';
import { PipelinedScripts } from './latency/scripts/pipelined-scripts.ts';
import type { Meter } from './metering/meter.ts';
import { Metering } from './metering/metering.ts';
import { type NetworkOptions, networkInterceptor } from './network/network.ts';
import { Filming, loadFilmedPages } from './screencast/filming.ts';
import type { Screencast } from './screencast/screencast.ts';
import type { InterceptorFactory } from './transport/interceptor.ts';
import { type CdpTransport, type ConnectOptions, connectTransport } from './transport/transport.ts';

export { BrowserHealth };

/** The client that uses a transport. */
export type Client = 'playwright' | 'puppeteer';

/** What a transport does besides passing messages on. */
export interface InterceptorOptions extends NetworkOptions {
  /** Default: `'playwright'`. */
  client?: Client;
  /**
   * Playwright only: the first context that Playwright creates is the browser's default context. Without this, each
   * context is new.
   */
  persistent?: PersistentOptions | undefined;
  /** Counts the bytes that the browser transfers. */
  meter?: Meter | undefined;
  /** Reports whether the browser is good for the next test. */
  health?: BrowserHealth;
  /** Takes pictures of pages, while there is a receiver. */
  screencast?: Screencast | undefined;
  /** Called with a description of each part of an upload that does not reach the browser unchanged. */
  onIncompleteUpload?: (text: string) => void;
  /** Hides round trips to a distant browser. */
  ahead?: boolean;
  /** Whether several tests use the browser one after the other, so that contexts can be prepared for them. */
  sharesBrowser?: boolean;
  /** Records the latency of the connection to the browser, and the time that `ahead` saves. */
  savings?: Savings;
}

/** Options of {@link openTransport}. */
export interface TransportOptions extends ConnectOptions, InterceptorOptions {}

/**
 * Opens a connection to a browser's `cdpUrl` for a client.
 * @throws LeaseError `CONNECT_FAILED`, which contains only the host of `cdpUrl`
 */
export async function openTransport(cdpUrl: string, options: TransportOptions = {}): Promise<CdpTransport> {
  return await connectTransport(cdpUrl, options, await interceptorsFor(options));
}

/**
 * The interceptors, in order from the client to the browser. Commands pass them first to last; responses and events
 * pass them last to first. Each position has its reason.
 */
export async function interceptorsFor(options: InterceptorOptions): Promise<InterceptorFactory[]> {
  const { client = 'playwright', persistent, meter, savings = new Savings(), screencast, health } = options;
  const isPlaywright = client === 'playwright';
  const list = isPlaywright ? nextToPlaywright(options, savings) : nextToPuppeteer(options, savings);
  // After the interceptors that act for the client: it retries a screenshot no matter which of them requested it.
  list.push((transport) => new LostScreenshots(transport));
  const downloads = new LocalDownloads();
  const network = await networkInterceptor({ ...options, downloads });
  // Before metering: what it reports to the client about requests made on this machine is not browser traffic.
  if (network) list.push(network.create);
  // After the network proxy, which would treat the helper page that fetches files as one of the client's pages.
  list.push((transport) => new Downloads(transport, downloads));
  // After downloads: it uses downloads to write directories to the browser's disk, and those must stay there.
  list.push((transport) => new Uploads(transport, options.onIncompleteUpload));
  // After downloads, which delays events: bytes count when they arrive. Before hidden targets, which do not count.
  if (meter) list.push((transport) => new Metering(transport, meter, (url) => network?.proxies(url) ?? false));
  // Next to the browser: a target hidden from the client is hidden from all other interceptors, too.
  if (persistent) list.push((transport) => new PersistentContext(transport, persistent, health));
  else list.push((transport) => new HiddenTargets(transport, health));
  // After all that may open a session on the browser: the next one that it announces must be ours.
  const [receiver] = screencast?.receivers ?? [];
  const filmedPages = receiver && (await loadFilmedPages());
  if (screencast) list.push((transport) => new Filming(transport, screencast, filmedPages));
  // Last: the time measured here is that of the connection to the browser and nothing else.
  list.push((transport) => new Distance(transport, savings));
  return list;
}

/** The interceptors that only Playwright needs. */
function nextToPlaywright(
  { persistent, ahead, sharesBrowser }: InterceptorOptions,
  savings: Savings,
): InterceptorFactory[] {
  const list: InterceptorFactory[] = [];
  // Closest to Playwright: the events that it adds follow an event that Playwright has received, and its code is added
  // to Playwright's script, not to one of ours.
  list.push((transport) => new BackForwardCache(transport));
  if (!ahead) return list;
  // The interceptors that send commands early act for Playwright: to all others it looks as if Playwright were faster.
  // A persistent context is cleared and reused, not created: Playwright has to wait until that is done.
  if (!persistent && sharesBrowser) {
    // Before the interceptor that prepares contexts: Playwright cannot close what it has not been shown yet.
    list.push((transport) => new EarlyClose(transport, savings));
    list.push((transport) => new PreparedContexts(transport, savings));
  }
  list.push((transport) => new PipelinedScripts(transport, savings));
  list.push((transport) => new PipelinedReads(transport, savings));
  return list;
}

/** The interceptors that only Puppeteer needs. */
function nextToPuppeteer({ ahead, sharesBrowser }: InterceptorOptions, savings: Savings): InterceptorFactory[] {
  // First, so that a command that it responds to has no effect.
  const list: InterceptorFactory[] = [(transport) => new KeepBrowserOpen(transport)];
  if (!ahead) return list;
  if (sharesBrowser) {
    const windows = new Windows();
    // Before the interceptor that prepares pages: Puppeteer cannot close what it has not been shown yet.
    list.push((transport) => new EarlyClose(transport, savings, windows, new DestroyedTabs(transport.model)));
    list.push((transport) => new PreparedPages(transport, savings, windows));
  }
  // After the interceptor that prepares pages, whose commands show which worlds are Puppeteer's.
  list.push((transport) => new PuppeteerReads(transport, savings));
  return list;
}
