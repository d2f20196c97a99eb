import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isLoopbackAddress, isLoopbackHost } from '../../common/url/loopback.ts';
import { NOWHERE } from '../chromium/arguments.ts';
import type { NetError } from './failure-names.ts';

/** The rules for the hosts that a browser may reach. */
export interface EgressRules {
  allowLoopback: boolean;
  /** Whether hosts of advertisements are out of reach. */
  blocksAds?: boolean | undefined;
  /** Names are looked up by the upstream proxy, not here. */
  hasUpstream: boolean;
}

/** Where to connect to, or why not. */
export type Verdict =
  | { addresses: { address: string; family: number }[] }
  | {
      refused: string;
      /** As asked for: not worth a line. */
      quietly?: boolean;
      /** How a browser without a proxy names it. */
      netError?: NetError;
    };

/** Judges a host that a browser asks for; the addresses that it returns are the ones to connect to. */
export async function judge(host: string, { allowLoopback, blocksAds, hasUpstream }: EgressRules): Promise<Verdict> {
  if (host.endsWith(`.${NOWHERE}`)) return { refused: `${host} does not exist`, quietly: true };
  if (blocksAds && isAdHost(host)) return { refused: `${host} serves advertisements (adblock)`, quietly: true };
  if (!allowLoopback && isLoopbackHost(host)) return { refused: loopbackRefusal(host) };
  if (hasUpstream) return { addresses: [] };
  const family = isIP(host);
  if (family !== 0) return { addresses: [{ address: host, family }] };
  let addresses: Awaited<ReturnType<typeof resolve>>;
  try {
    addresses = await resolve(host);
  } catch {
    return { refused: `${host} does not resolve`, netError: 'net::ERR_NAME_NOT_RESOLVED' };
  }
  if (!allowLoopback && addresses.some(({ address }) => isLoopbackAddress(address))) {
    return { refused: loopbackRefusal(host) };
  }
  return { addresses };
}

function resolve(host: string) {
  return lookup(host, { all: true });
}

function loopbackRefusal(host: string): string {
  return `${host} refused: a hosted browser cannot reach this machine's loopback (poolwright's exposeNetwork carries it there; allowLoopback lets it)`;
}

/**
 * Hosts that serve advertisements and count their viewers, their subdomains included: a small part of what the lists of
 * content blockers hold, the ones that pages ask for most.
 */
const AD_HOSTS = new Set(
  `
    2mdn.net adform.net adnxs.com adroll.com adsafeprotected.com adsrvr.org advertising.com amazon-adsystem.com
    analytics.google.com appnexus.com bidswitch.net bluekai.com casalemedia.com chartbeat.com criteo.com criteo.net
    demdex.net doubleclick.net doubleverify.com everesttech.net google-analytics.com googleadservices.com
    googlesyndication.com googletagservices.com hotjar.com imrworldwide.com indexww.com krxd.net lijit.com
    mathtag.com media.net moatads.com mookie1.com openx.net outbrain.com pubmatic.com quantserve.com rlcdn.com
    rubiconproject.com scorecardresearch.com sharethrough.com smartadserver.com taboola.com teads.tv tremorhub.com
    turn.com yieldmo.com zedo.com
  `
    .trim()
    .split(/\s+/),
);

/** Whether a session with `adblock` does not reach this host. */
export function isAdHost(host: string): boolean {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  return labels.some((_, index) => AD_HOSTS.has(labels.slice(index).join('.')));
}
