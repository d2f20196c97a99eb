import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import type { LeasedBrowser } from '../../../../../src/broker/rpc/messages/protocol.ts';
import { openSocket } from '../../../../../src/cdp/transport/open-socket.ts';
import { describeLoss, lossError } from '../../../../../src/clients/shared/connection/loss.ts';
import { printable } from '../../../../../src/printable.ts';
import { propertyRuns } from '../../../../support/property-runs.ts';

/** Session IDs and reasons of others in the messages about a browser: each message is one clean line. */

const hostile = fc
  .array(fc.constantFrom('a', '\n', '\r', '\u001b[31m', '\u202e', '::error::', '\u0007', '\u2028'), { minLength: 1 })
  .map((parts) => `id${parts.join('')}`);

test('names a session in one clean line, whatever the service calls it', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, hostile, async (sessionId, seen) => {
      const refused = await openSocket('no address', { timeout: 1, sessionId }).catch((error: Error) => error.message);
      const lease = { sessionId, leaseId: null, expiresAt: '2030-01-01T00:00:00.000Z' } as LeasedBrowser;
      const losses = (['broken', 'closed', 'silent'] as const).map((how) => {
        const text = describeLoss(
          lease,
          { at: 0, seen, how },
          { status: 'active', stoppedAt: null, bandwidthBytes: null },
        );
        return lossError(lease, text).message;
      });
      for (const message of [refused, ...losses]) expect(message).toBe(printable(String(message)));
    }),
    propertyRuns(300),
  );
});
