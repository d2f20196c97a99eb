import * as v from 'valibot';
import { parsedJson } from '../../common/text/parsed-json.ts';
import type { BrokenBrowserFault } from '../fault-rule.ts';

const command = v.looseObject({ id: v.number(), method: v.string(), sessionId: v.optional(v.string()) });
const REFUSED: ReadonlyMap<string, BrokenBrowserFault> = new Map([
  ['Target.createBrowserContext', 'refuseContexts'],
  ['Target.createTarget', 'refusePages'],
]);
/** A service worker whose context is gone. */
const FOREIGN_TARGET = {
  method: 'Target.attachedToTarget',
  params: {
    sessionId: 'F0E1',
    targetInfo: {
      targetId: 'F0E2',
      type: 'service_worker',
      title: '',
      url: 'http://left.test/sw.js',
      attached: true,
      canAccessOpener: false,
    },
    waitingForDebugger: true,
  },
};

/** What a broken browser does with a client's message, although it responds to others. */
export interface BrokenResponse {
  /** Sent to the client. */
  text: string;
  /** The browser also receives the message. */
  passes: boolean;
}

/** Null: it handles the message as usual. */
export function brokenResponse(faults: ReadonlySet<BrokenBrowserFault>, data: Buffer): BrokenResponse | null {
  if (faults.size === 0 || data.length > 10_000) return null;
  const parsed = v.safeParse(command, parsedJson(data.toString()));
  if (!parsed.success) return null;
  const { id, method, sessionId } = parsed.output;
  const fault = REFUSED.get(method);
  if (fault && faults.has(fault)) {
    const error = { code: -32_000, message: `The browser is broken (${fault})` };
    return { text: JSON.stringify({ id, error, sessionId }), passes: false };
  }
  const isConnecting = method === 'Target.setAutoAttach' && sessionId === undefined;
  if (!isConnecting || !faults.has('foreignTarget')) return null;
  return { text: JSON.stringify(FOREIGN_TARGET), passes: true };
}
