import { BackForwardCache } from './contexts/back-forward-cache.ts';
import { BrowserHealth } from './contexts/browser-health.ts';
import { HiddenTargets } from './contexts/hidden-targets.ts';
import { KeepBrowserOpen } from './contexts/keep-browser-open.ts';
import { LostScreenshots } from './contexts/lost-screenshots.ts';
import { PersistentContext, type PersistentOptions } from './contexts/persistent-context.ts';
import { Distance, Meter, Savings } from './figures.ts';
import { Downloads } from './files/downloads.ts';
import { ProxiedDownloads } from './files/proxied-downloads.ts';
import { Uploads } from './files/uploads.ts';
import { type NetworkOptions, networkInterceptor } from './network/network.ts';
import type { Client, OptionalInterceptors, Surroundings } from './optional.ts';
import { Filming, loadFilmedPages } from './screencast/filming.ts';
import type { Screencast } from './screencast/screencast.ts';
import type { InterceptorFactory } from './transport/interceptor.ts';
import { type CdpTransport, type ConnectOptions, connectTransport } from './transport/transport.ts';

/** The interceptors that a connection can do without, one line each, by the options that turn them on. */
const OPTIONAL: Readonly<Record<string, () => Promise<OptionalInterceptors>>> = {
  ahead: () => import('./latency/interceptors.ts'),
  meter: () => import('./metering/metering.ts'),
};

/** What a transport does besides passing messages on. */
export interface InterceptorOptions extends NetworkOptions {
  /** Default: `'playwright'`. */
  client?: Client;
  /**
   * Playwright only: the first context that Playwright creates is the browser's default context. Without this, each
   * context is new.
   */
  persistent?: PersistentOptions | undefined;
  /** The client sees the pages that the browser has already, as in a browser that it has launched. */
  showsPages?: boolean | undefined;
  /** Counts the bytes that the browser transfers. */
  meter?: Meter | undefined;
  /** Reports whether the browser is good for the next test. */
  health?: BrowserHealth;
  /** Takes pictures of pages, while there is a receiver. */
  screencast?: Screencast | undefined;
  /** Called with the reason and the paths of each upload that fails. */
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

/** A leased browser, and what the connection to it does. */
export interface LeasedTarget {
  /** A secret. */
  cdpUrl: string;
  headers?: ConnectOptions['headers'];
  sessionId: string;
  /** Whether others may use it at the same time. */
  runsAlready: boolean;
  metering: boolean;
  ahead: boolean;
  sharesBrowser: boolean;
  /** Null: each context is new. */
  persistent: PersistentOptions | null;
}

/** The measurements of a connection since it opened. */
export interface TransportFigures {
  /** Bytes that the browser has transferred; null without metering. */
  observedBytes: number | null;
  /** Number of commands that the client has sent. */
  commands: number;
  /** Null before the first response. */
  roundTripMs: number | null;
  /** How much waiting was saved. */
  savedMs: number;
}

/** A connection to a leased browser. */
export interface MeasuredTransport {
  transport: CdpTransport;
  health: BrowserHealth;
  figures(): TransportFigures;
}

/**
 * Opens a connection to a leased browser and measures it.
 * @throws LeaseError `CONNECT_FAILED`, which contains only the host of `cdpUrl`
 */
export async function openLeased(
  { cdpUrl, headers, sessionId, runsAlready, metering, ahead, sharesBrowser, persistent }: LeasedTarget,
  options: TransportOptions,
): Promise<MeasuredTransport> {
  const meter = metering ? new Meter() : undefined;
  const savings = new Savings();
  const health = new BrowserHealth(runsAlready);
  const leased = { headers, sessionId, ahead, sharesBrowser, persistent: persistent ?? undefined };
  const transport = await openTransport(cdpUrl, { ...options, ...leased, meter, savings, health });
  return {
    transport,
    health,
    figures: () => ({
      observedBytes: meter?.total() ?? null,
      commands: transport.commands,
      roundTripMs: savings.roundTripMs,
      savedMs: savings.savedMs,
    }),
  };
}

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
  const { client = 'playwright', persistent, savings = new Savings(), screencast, health } = options;
  const downloads = new ProxiedDownloads();
  const network = await networkInterceptor({ ...options, downloads });
  const optional = await optionalInterceptors(options);
  const isProxied = (url: string) => network?.proxies(url) ?? false;
  const surroundings: Surroundings = { ...options, client, savings, isProxied };
  const list: InterceptorFactory[] = [];
  // Closest to Playwright: the events that it adds follow an event that Playwright has received, and its code is added
  // to Playwright's script, not to one of ours.
  if (client === 'playwright') list.push((transport) => new BackForwardCache(transport));
  // First, so that a command that it responds to has no effect.
  else list.push((transport) => new KeepBrowserOpen(transport));
  for (const create of optional.flatMap(({ nextToClient }) => nextToClient?.(surroundings) ?? [])) list.push(create);
  // After the interceptors that act for the client: it retries a screenshot no matter which of them requested it.
  list.push((transport) => new LostScreenshots(transport));
  // Before those that see what arrives: it reports requests to the client that are not browser traffic.
  if (network) list.push(network.create);
  // After the network proxy, which would treat the helper page that fetches files as one of the client's pages.
  list.push((transport) => new Downloads(transport, downloads));
  // Anywhere: it only carries out one command of the client, with commands that no other interceptor needs to see.
  list.push((transport) => new Uploads(transport, options.onIncompleteUpload));
  // After downloads, which delays events. Before hidden targets, which do not count.
  for (const create of optional.flatMap(({ onArrival }) => onArrival?.(surroundings) ?? [])) list.push(create);
  // Next to the browser: a target hidden from the client is hidden from all other interceptors, too.
  if (persistent) list.push((transport) => new PersistentContext(transport, persistent, health));
  else if (!options.showsPages) list.push((transport) => new HiddenTargets(transport, health));
  // After all that may open a session on the browser: the next one that it announces must be ours.
  const [receiver] = screencast?.receivers ?? [];
  const filmedPages = receiver && (await loadFilmedPages());
  if (screencast) list.push((transport) => new Filming(transport, screencast, filmedPages));
  // Last: the time measured here is that of the connection to the browser and nothing else.
  list.push((transport) => new Distance(transport, savings));
  return list;
}

async function optionalInterceptors(options: InterceptorOptions): Promise<OptionalInterceptors[]> {
  const isOn = ([name]: [string, unknown]) => Boolean(options[name as keyof InterceptorOptions]);
  return await Promise.all(
    Object.entries(OPTIONAL)
      .filter(isOn)
      .map(([, load]) => load()),
  );
}
