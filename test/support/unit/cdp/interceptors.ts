import { readdirSync } from 'node:fs';
import { BackForwardCache } from '../../../../src/cdp/contexts/back-forward-cache.ts';
import { HiddenTargets } from '../../../../src/cdp/contexts/hidden-targets.ts';
import { LostScreenshots } from '../../../../src/cdp/contexts/lost-screenshots.ts';
import { PersistentContext } from '../../../../src/cdp/contexts/persistent-context.ts';
import { Meter } from '../../../../src/cdp/figures.ts';
import { Downloads } from '../../../../src/cdp/files/downloads.ts';
import { ProxiedDownloads } from '../../../../src/cdp/files/proxied-downloads.ts';
import { Uploads } from '../../../../src/cdp/files/uploads.ts';
import { Network } from '../../../../src/cdp/network/network.ts';
import { NetworkProxy } from '../../../../src/cdp/network/network-proxy.ts';
import { FilmedPages } from '../../../../src/cdp/screencast/filmed-pages.ts';
import { Filming } from '../../../../src/cdp/screencast/filming.ts';
import { Screencast } from '../../../../src/cdp/screencast/screencast.ts';
import type { InterceptorFactory } from '../../../../src/cdp/transport/interceptor.ts';
import { parseNetworkRules } from '../../../../src/options/network-rules.ts';

/** Interceptors that a connection can do without. */
type Optional = (meter: Meter) => Record<string, InterceptorFactory>;

const directory = new URL('optional/', import.meta.url);
const optional: Optional[] = await Promise.all(
  readdirSync(directory).map(async (file) => (await import(new URL(file, directory).href)).interceptors),
);

/** An address without a listener. */
const NOWHERE = '127.0.0.1:2';

/**
 * Returns every interceptor, each alone.
 * @param proxied host that the proxy serves
 */
export function interceptors(proxied = NOWHERE, meter = new Meter()): Readonly<Record<string, InterceptorFactory>> {
  const carried = new ProxiedDownloads();
  return {
    'back-forward-cache': (link) => new BackForwardCache(link),
    'lost-screenshots': (link) => new LostScreenshots(link),
    uploads: (link) => new Uploads(link),
    network: (link) =>
      new Network(link, { proxiedHosts: parseNetworkRules(proxied), downloads: carried }, NetworkProxy),
    downloads: (link) => new Downloads(link, carried),
    'hidden-targets': (link) => new HiddenTargets(link),
    'persistent-context': (link) => new PersistentContext(link, { clear: true }),
    filming: (link) => new Filming(link, filming(), FilmedPages),
    ...Object.assign({}, ...optional.map((each) => each(meter))),
  };
}

function filming(): Screencast {
  const screencast = new Screencast();
  screencast.start({ options: { maxWidth: 9, maxHeight: 9, quality: 1, perSecond: 100 }, onPicture: async () => {} });
  return screencast;
}
