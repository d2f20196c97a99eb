/**
 * Hosts that serve advertisements and count their viewers, their subdomains included: a small part of what the lists of
 * content blockers hold, the ones that pages ask for most.
 */
const AD_HOSTS = new Set([
  '2mdn.net',
  'adform.net',
  'adnxs.com',
  'adroll.com',
  'adsafeprotected.com',
  'adsrvr.org',
  'advertising.com',
  'amazon-adsystem.com',
  'analytics.google.com',
  'appnexus.com',
  'bidswitch.net',
  'bluekai.com',
  'casalemedia.com',
  'chartbeat.com',
  'criteo.com',
  'criteo.net',
  'demdex.net',
  'doubleclick.net',
  'doubleverify.com',
  'everesttech.net',
  'google-analytics.com',
  'googleadservices.com',
  'googlesyndication.com',
  'googletagservices.com',
  'hotjar.com',
  'imrworldwide.com',
  'indexww.com',
  'krxd.net',
  'lijit.com',
  'mathtag.com',
  'media.net',
  'moatads.com',
  'mookie1.com',
  'openx.net',
  'outbrain.com',
  'pubmatic.com',
  'quantserve.com',
  'rlcdn.com',
  'rubiconproject.com',
  'scorecardresearch.com',
  'sharethrough.com',
  'smartadserver.com',
  'taboola.com',
  'teads.tv',
  'tremorhub.com',
  'turn.com',
  'yieldmo.com',
  'zedo.com',
]);

/** Whether a session with `adblock` does not reach this host. */
export function isAdHost(host: string): boolean {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  return labels.some((_, index) => AD_HOSTS.has(labels.slice(index).join('.')));
}
