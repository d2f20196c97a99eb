import { BackForwardCache } from '../../../../src/cdp/contexts/back-forward-cache.ts';
import { HiddenTargets } from '../../../../src/cdp/contexts/hidden-targets.ts';
import { LostScreenshots } from '../../../../src/cdp/contexts/lost-screenshots.ts';
import { PersistentContext } from '../../../../src/cdp/contexts/persistent-context.ts';
import { Downloads } from '../../../../src/cdp/files/downloads.ts';
import { LocalDownloads } from '../../../../src/cdp/files/local-downloads.ts';
import { Uploads } from '../../../../src/cdp/files/uploads.ts';
import { EarlyClose } from '../../../../src/cdp/latency/contexts/early-close.ts';
import { PreparedContexts } from '../../../../src/cdp/latency/contexts/prepared-contexts.ts';
import { PipelinedReads } from '../../../../src/cdp/latency/reads/pipelined-reads.ts';
import { Savings } from '../../../../src/cdp/latency/savings.ts';
import { PipelinedScripts } from '../../../../src/cdp/latency/scripts/pipelined-scripts.ts';
import { Meter } from '../../../../src/cdp/metering/meter.ts';
import { Metering } from '../../../../src/cdp/metering/metering.ts';
import { Network } from '../../../../src/cdp/network/network.ts';
import { NetworkProxy } from '../../../../src/cdp/network/network-proxy.ts';
import { FilmedPages } from '../../../../src/cdp/screencast/filmed-pages.ts';
import { Filming } from '../../../../src/cdp/screencast/filming.ts';
import { Screencast } from '../../../../src/cdp/screencast/screencast.ts';
import type { InterceptorFactory } from '../../../../src/cdp/transport/interceptor.ts';
import { parseNetworkRules } from '../../../../src/options/network-rules.ts';

/** An address without a listener. */
const NOWHERE = '127.0.0.1:1';

/**
 * Returns every interceptor, each alone.
 * @param proxied host that the proxy serves
 */
export function interceptors(proxied = NOWHERE, meter = new Meter()): Readonly<Record<string, InterceptorFactory>> {
  const carried = new LocalDownloads();
  return {
    'back-forward-cache': (link) => new BackForwardCache(link),
    'lost-screenshots': (link) => new LostScreenshots(link),
    uploads: (link) => new Uploads(link),
    network: (link) =>
      new Network(link, { proxiedHosts: parseNetworkRules(proxied), downloads: carried }, NetworkProxy),
    downloads: (link) => new Downloads(link, carried),
    metering: (link) => new Metering(link, meter, () => false),
    'hidden-targets': (link) => new HiddenTargets(link),
    'persistent-context': (link) => new PersistentContext(link, { clear: true }),
    filming: (link) => new Filming(link, filming(), FilmedPages),
    'early-close': (link) => new EarlyClose(link, far()),
    'prepared-contexts': (link) => new PreparedContexts(link, far()),
    'pipelined-scripts': (link) => new PipelinedScripts(link, far()),
    'pipelined-reads': (link) => new PipelinedReads(link, far()),
  };
}

function filming(): Screencast {
  const screencast = new Screencast();
  screencast.start({ options: { maxWidth: 9, maxHeight: 9, quality: 1, perSecond: 100 }, onPicture: async () => {} });
  return screencast;
}

/** Savings for a remote browser. */
function far(): Savings {
  const savings = new Savings(0);
  savings.measured(100);
  return savings;
}
