import type { CdpMessage } from '../transport/message.ts';

/**
 * Playwright turns the back/forward cache off where it launches a browser, by a switch, and is lost with a page that
 * comes out of it: such a page fires no `load`, so `page.goBack()` waits in vain, and its requests are not routed.
 * Browsers that are connected to have it on.
 *
 * A page with an `unload` listener is not kept in the cache. One is added to the script that Playwright installs in
 * every new document anyway, in a world of its own, where pages do not see it; where a site forbids such listeners the
 * browser would complain in the console, so there none is added.
 */
const KEEPS_OUT = "if (document.featurePolicy?.allowsFeature('unload')) addEventListener('unload', () => {});";

interface ScriptFields {
  source?: unknown;
  worldName?: unknown;
}

interface NavigatedFields {
  type?: unknown;
  frame?: { id?: unknown; loaderId?: unknown };
}

/** The command to send in place of `command`: the same one, unless it installs Playwright's own script. */
export function keepOutOfCache(command: CdpMessage): CdpMessage {
  if (command.method !== 'Page.addScriptToEvaluateOnNewDocument') return command;
  const { source, worldName }: ScriptFields = command.params ?? {};
  if (typeof source !== 'string' || typeof worldName !== 'string') return command;
  return { ...command, params: { ...command.params, source: `${KEEPS_OUT}\n${source}` } };
}

/**
 * What the browser does not say about a page that came out of the cache all the same (a site may forbid `unload`
 * listeners): that it is loaded. To be passed on right after `message`.
 */
export function restoredEvents({ method, params, sessionId }: CdpMessage): CdpMessage[] {
  if (method !== 'Page.frameNavigated') return [];
  const { type, frame }: NavigatedFields = params ?? {};
  if (type !== 'BackForwardCacheRestore') return [];
  return ['DOMContentLoaded', 'load'].map((name) => ({
    method: 'Page.lifecycleEvent',
    params: { frameId: frame?.id, loaderId: frame?.loaderId, name, timestamp: performance.now() / 1000 },
    sessionId,
  }));
}
