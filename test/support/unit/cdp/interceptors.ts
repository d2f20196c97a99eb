import { ContextsAhead } from '../../../../src/cdp/ahead/contexts/contexts-ahead.ts';
import { EarlyClose } from '../../../../src/cdp/ahead/contexts/early-close.ts';
import { ReadsAhead } from '../../../../src/cdp/ahead/reads/reads-ahead.ts';
import { Savings } from '../../../../src/cdp/ahead/savings.ts';
import { ScriptsAhead } from '../../../../src/cdp/ahead/scripts/scripts-ahead.ts';
import { NetworkBridge } from '../../../../src/cdp/bridge/bridge.ts';
import { listedBridge } from '../../../../src/cdp/bridge/bridge-factory.ts';
import { BackForwardCache } from '../../../../src/cdp/contexts/back-forward-cache.ts';
import { HiddenTargets } from '../../../../src/cdp/contexts/hidden-targets.ts';
import { LostScreenshots } from '../../../../src/cdp/contexts/lost-screenshots.ts';
import { PersistentContext } from '../../../../src/cdp/contexts/persistent-context.ts';
import { CarriedDownloads } from '../../../../src/cdp/files/carried-downloads.ts';
import { Downloads } from '../../../../src/cdp/files/downloads.ts';
import { Uploads } from '../../../../src/cdp/files/uploads.ts';
import { Meter } from '../../../../src/cdp/metering/meter.ts';
import { Metering } from '../../../../src/cdp/metering/metering.ts';
import type { InterceptorFactory } from '../../../../src/cdp/transport/interceptor.ts';
import { parseNetworkRules } from '../../../../src/options/network-rules.ts';

/** Where nobody listens. */
const NOWHERE = '127.0.0.1:1';

/**
 * Every interceptor there is, alone.
 * @param bridged host that the bridge carries requests to
 */
export function interceptors(bridged = NOWHERE, meter = new Meter()): Readonly<Record<string, InterceptorFactory>> {
  const carried = new CarriedDownloads();
  const parts = { onCarried: () => undefined, downloads: carried };
  return {
    'back-forward-cache': (link) => new BackForwardCache(link),
    'lost-screenshots': (link) => new LostScreenshots(link),
    uploads: (link) => new Uploads(link),
    bridge: listedBridge(NetworkBridge, parseNetworkRules(bridged), parts),
    downloads: (link) => new Downloads(link, carried),
    metering: (link) => new Metering(link, meter, () => false),
    'hidden-targets': (link) => new HiddenTargets(link),
    'persistent-context': (link) => new PersistentContext(link, { clear: true }),
    'early-close': (link) => new EarlyClose(link, far()),
    'contexts-ahead': (link) => new ContextsAhead(link, far()),
    'scripts-ahead': (link) => new ScriptsAhead(link, far()),
    'reads-ahead': (link) => new ReadsAhead(link, far()),
  };
}

/** Of a browser that is far away. */
function far(): Savings {
  const savings = new Savings(0);
  savings.measured(100);
  return savings;
}
