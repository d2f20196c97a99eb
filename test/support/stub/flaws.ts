import { CdpError } from './protocol.ts';
import type { StubSession } from './stub-session.ts';

/** How a browser that responds may be broken: no contexts, no pages, or a service worker whose context is gone. */
export type Flaw = 'refuses contexts' | 'refuses pages' | 'sends a foreign target';

const REFUSED: Partial<Record<string, Flaw>> = {
  'Target.createBrowserContext': 'refuses contexts',
  'Target.createTarget': 'refuses pages',
};
const FOREIGN_TARGET = {
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
};

/** What the browser does at this command because of its flaw. @throws CdpError if it refuses the command */
export function showFlaw(flaw: Flaw, method: string, session: StubSession): void {
  if (REFUSED[method] === flaw) throw new CdpError(`The browser is broken: it ${flaw}`);
  const isConnecting = method === 'Target.setAutoAttach' && session.parent === undefined;
  if (isConnecting && flaw === 'sends a foreign target') session.emit('Target.attachedToTarget', FOREIGN_TARGET);
}
