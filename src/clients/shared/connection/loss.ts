import type { LeasedBrowser, SessionReport } from '../../../broker/rpc/messages/protocol.ts';
import { withoutStack } from '../../../common/error-message.ts';
import { LeaseError } from '../../../errors.ts';
import { printable } from '../../../printable.ts';

/** A browser that was lost, or turned out to be broken, while a test used it. */
export interface Loss {
  /** ms since the epoch. */
  at: number;
  /** How this process noticed the loss. */
  seen: string;
  /**
   * `silent`: the browser stopped responding and was given up. `broken`: it responds, but it or the client fails, so no
   * other test may use it.
   */
  how: 'broken' | 'closed' | 'silent';
}

/** How far the clocks of the service and of this machine may differ, in ms. */
const CLOCK_TOLERANCE_MS = 3_000;

/** One sentence for report and record: the session, its status at the service, and the likely cause. */
export function describeLoss(lease: LeasedBrowser, loss: Loss, report: SessionReport | null): string {
  return printable(description(lease, loss, report));
}

function description(lease: LeasedBrowser, loss: Loss, report: SessionReport | null): string {
  const { sessionId } = lease;
  if (loss.how === 'broken') return `session ${sessionId} is broken: ${loss.seen}`;
  const status = report?.status ? `status "${report.status}" at the service` : 'status at the service unknown';
  return `session ${sessionId} was lost (${loss.seen}; ${status}): ${likelyCause(lease, loss, report?.status ?? null)}`;
}

/** The error that is added to the test's own one. */
export function lossError(lease: LeasedBrowser, description: string): LeaseError {
  const error = new LeaseError(
    'BROWSER_LOST',
    `The hosted browser was lost during this test. This is an infrastructure failure, not a test failure: ${description}. The next test gets a new browser.`,
    { sessionId: lease.sessionId },
  );
  return withoutStack(error);
}

function likelyCause(lease: LeasedBrowser, loss: Loss, status: string | null): string {
  if (loss.how === 'silent') return 'the browser hung, or the network to it was cut';
  if (loss.at >= Date.parse(lease.expiresAt) - CLOCK_TOLERANCE_MS) {
    return lease.leaseId === null
      ? "its `duration` ended: the test took longer than the session's remaining time"
      : "its lease ended: the test took longer than the rest of the pool's `leaseTimeoutSeconds`";
  }
  if (status === 'error') return 'the browser crashed';
  if (status === 'active') return 'the connection to it was cut while the browser kept running (network, proxy)';
  if (status === 'completed')
    return 'it was stopped early (dashboard, `poolwright sessions stop`, pool), or its browser quit';
  return 'unknown';
}
