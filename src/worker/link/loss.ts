import type { LeasedBrowser, SessionReport } from '../../broker/rpc/protocol.ts';
import { withoutStack } from '../../common/text/without-stack.ts';
import { LeaseError } from '../../errors.ts';

/** A browser that was lost while a test used it. */
export interface Loss {
  /** ms since the epoch. */
  at: number;
  /** What was seen of it on this side. */
  seen: string;
  /** It did not answer any more, and was given up. */
  silent: boolean;
}

/** The clocks of the service and of this machine may differ by this much, in ms. */
const CLOCK_TOLERANCE_MS = 3_000;

/** One sentence for report and record: which session, how it stands at the service, and the likely cause. */
export function describeLoss(lease: LeasedBrowser, loss: Loss, report: SessionReport | null): string {
  const status = report?.status ? `status "${report.status}" at the service` : 'its status at the service is not known';
  return `session ${lease.sessionId} was lost (${loss.seen}; ${status}): ${likelyCause(lease, loss, report?.status ?? null)}`;
}

/** What the test fails with beside Playwright's own error. */
export function lossError(lease: LeasedBrowser, description: string): LeaseError {
  const error = new LeaseError(
    'BROWSER_LOST',
    `The hosted browser was lost during this test, which says nothing about the test itself: ${description}. The next test gets a fresh browser.`,
    { sessionId: lease.sessionId },
  );
  return withoutStack(error);
}

function likelyCause(lease: LeasedBrowser, loss: Loss, status: string | null): string {
  if (loss.silent) return 'the browser hung, or the network to it was cut';
  if (loss.at >= Date.parse(lease.expiresAt) - CLOCK_TOLERANCE_MS) {
    return lease.leaseId === null
      ? "its `duration` was over: the test took longer than the session's remaining time"
      : "its lease was over: the test took longer than what was left of the pool's `leaseTimeoutSeconds`";
  }
  if (status === 'error') return 'the browser crashed';
  if (status === 'active') return 'the link to it was cut while the browser went on (network, proxy)';
  if (status === 'completed')
    return 'somebody stopped it before its time (the dashboard, `poolwright sessions stop`, the pool), or its browser quit';
  return 'unknown';
}
