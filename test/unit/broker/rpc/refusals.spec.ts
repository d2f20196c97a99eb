import { expect, test } from '@playwright/test';
import { isRunRefused, runRefused } from '../../../../src/broker/rpc/messages/refusals.ts';
import { deserializeError, serializeError } from '../../../../src/broker/rpc/messages/serialized-error.ts';
import { LeaseError } from '../../../../src/errors.ts';

test('a worker knows the refusal of its run from other failures of the broker', () => {
  expect(isRunRefused(deserializeError(serializeError(runRefused(), ['key'])))).toBe(true);
  expect(isRunRefused(new LeaseError('BROKER_FAILED', 'different versions of poolwright'))).toBe(false);
});
