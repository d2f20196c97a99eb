import { CarriedDownloads } from '../files/carried-downloads.ts';
import type { InterceptorFactory } from '../transport/interceptor.ts';
import type { BridgeParts, NetworkBridge } from './bridge.ts';
import type { BridgedHosts } from './bridged-hosts.ts';
import { type BeginBridged, BridgedSessions } from './bridged-sessions.ts';
import type { IntentEvents } from './intent/intent.ts';
import { OnDemandBridge } from './intent/on-demand-bridge.ts';
import { listedReach } from './intent/reach.ts';

/** What pages reach through this machine. */
export interface BridgeOptions {
  /** Hosts that every page reaches; none unless given. */
  bridge?: BridgedHosts | undefined;
  /** Carries what the test itself goes to. */
  byIntent?: IntentEvents | undefined;
  /** Called with the number of bytes each time that some have crossed the bridge, either way. */
  onBridgedBytes?: (bytes: number) => void;
  /** Takes downloads, which need not cross the link; nobody does unless given. */
  downloads?: CarriedDownloads;
}

export interface BridgeFactory {
  create: InterceptorFactory;
  /** Whether requests to an address are made here. */
  carries(url: string): boolean;
}

const NONE: BridgedHosts = { matches: () => false, urlPatterns: [], hostExpressions: [] };

/** Null where nothing is to be carried. Loads the bridge where it is needed for certain: its libraries take time to load. */
export async function bridgeFactory({
  bridge,
  byIntent,
  onBridgedBytes,
  downloads = new CarriedDownloads(),
}: BridgeOptions): Promise<BridgeFactory | null> {
  const onBytes = onBridgedBytes ?? (() => undefined);
  const loaded = bridge ? (await import('./bridge.ts')).NetworkBridge : null;
  if (byIntent) {
    let made: OnDemandBridge | undefined;
    const parts = { listed: bridge ?? NONE, told: byIntent, onBytes, downloads, loaded };
    return {
      create: (link) => {
        made = new OnDemandBridge(link, parts);
        return made;
      },
      carries: (url) => bridge?.matches(url) || made?.intent.carriesAnywhere(url) || false,
    };
  }
  if (!bridge || !loaded) return null;
  return {
    create: listedBridge(loaded, bridge, { onCarried: onBytes, downloads }),
    carries: (url) => bridge.matches(url),
  };
}

/** A bridge to listed hosts, and to no others. */
export function listedBridge(
  Bridge: typeof NetworkBridge,
  hosts: BridgedHosts,
  parts: Pick<BridgeParts, 'onCarried' | 'downloads'>,
): InterceptorFactory {
  return (link) => {
    const begin: BeginBridged = (sessionId, session) => bridge.begin(sessionId, session);
    const sessions = new BridgedSessions(link.model, begin);
    const bridge: NetworkBridge = new Bridge(link, { sessions, reach: listedReach(hosts), ...parts });
    return bridge;
  };
}
