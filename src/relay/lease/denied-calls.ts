import * as v from 'valibot';
import { parsedJson } from '../../common/text/parsed-json.ts';

/**
 * Calls of Playwright's protocol that would start a program on this machine, or connect it to something else than its
 * browser: the lease has its browser, and the worker's options must not choose what runs here.
 */
const DENIED = new Set([
  'launch',
  'launchPersistentContext',
  'launchServer',
  'connect',
  'connectOverCDP',
  'connectToBrowser',
  // Of Android: it connects to any host and port.
  'devices',
  'launchBrowser',
  // `browser.bind`: it listens on any address, without a token.
  'startServer',
  // The inspector and its names in older versions: it starts a browser.
  'showRecorder',
  'enableRecorder',
  'recorderSupplementEnable',
  // Requests of no context, which would leave from this machine. A worker makes those itself.
  'newRequest',
]);

const NO_FILE_PAGES =
  'a relay does not reach file: pages of your machine: serve the directory over HTTP, or run this test without the relay';

/** The type of an ID depends on the version. */
const call = v.object({
  id: v.optional(v.unknown()),
  method: v.string(),
  params: v.optional(v.object({ url: v.optional(v.unknown()) })),
});

/** The response to a call that is denied; null if it is allowed, or not a call. */
export function denialOf(text: string): string | null {
  const message = v.safeParse(call, parsedJson(text));
  const reason = message.success && reasonToDeny(message.output);
  return reason
    ? JSON.stringify({ id: message.output.id, error: { error: { name: 'Error', message: reason } } })
    : null;
}

function reasonToDeny({ method, params }: v.InferOutput<typeof call>): string | null {
  if (DENIED.has(method)) return `${method} is not allowed through a relay`;
  // The browser would look for it on its own machine.
  return method === 'goto' && /^\s*file:/i.test(String(params?.url)) ? NO_FILE_PAGES : null;
}
