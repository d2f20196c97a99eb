import { expect, test } from '@playwright/test';
import { deserializeError, serializeError } from '../../../../src/broker/rpc/messages/serialized-error.ts';
import {
  errorCodes,
  errorOf,
  LeaseError,
  OptionsError,
  PoolwrightError,
  ServiceError,
} from '../../../../src/errors.ts';

const KEY = 'pw-key-0123456789';

/** The error after its way through the socket. */
function overTheWire(error: unknown): PoolwrightError {
  return deserializeError(JSON.parse(JSON.stringify(serializeError(error, [KEY]))));
}

const details = {
  status: 402,
  serviceCode: 'out',
  serviceMessage: `Insufficient balance of ${KEY}`,
  request: 'POST /v1/browser/session',
  retryable: false,
  retryAfterMs: 2000,
  attempts: 3,
};

test("the service's errors are the exported class in the worker, with all their data except secrets", () => {
  const error = overTheWire(new ServiceError('SERVICE_OUT_OF_CREDIT', `no credit for ${KEY}`, details));
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({
    ...details,
    code: 'SERVICE_OUT_OF_CREDIT',
    serviceMessage: expect.stringMatching(/^Insufficient balance of /),
  });
  expect(JSON.stringify(error) + error.message).not.toContain(KEY);
});

test('an error without a response, with the required fields only, keeps its class', () => {
  const bare = { status: 0, request: 'GET /v1/browser/session', retryable: true };
  expect(overTheWire(new ServiceError('SERVICE_UNREACHABLE', 'm', bare))).toMatchObject({ ...bare, attempts: 1 });
});

test('the other error classes are kept', () => {
  const lease = overTheWire(new LeaseError('BROWSER_LOST', 'lost', { sessionId: 's-1' }));
  expect(lease).toBeInstanceOf(LeaseError);
  expect(lease).toMatchObject({ code: 'BROWSER_LOST', message: 'lost', sessionId: 's-1' });
  const options = overTheWire(new OptionsError('pool', 'no such pool'));
  expect(options).toBeInstanceOf(OptionsError);
  expect(options).toMatchObject({ code: 'OPTIONS_INVALID', field: 'pool' });
  const other = overTheWire(new PoolwrightError('REQUEST_INVALID', 'not sent'));
  expect(other).not.toBeInstanceOf(LeaseError);
  expect(other).toMatchObject({ name: 'PoolwrightError', code: 'REQUEST_INVALID' });
  expect(overTheWire(new TypeError('a bug'))).toMatchObject({ name: 'LeaseError', code: 'BROKER_FAILED' });
});

test('keeps class, code and message of every code', () => {
  for (const code of errorCodes) {
    const error = errorOf(code, `of ${code}`);
    const arrived = overTheWire(error);
    expect(arrived.constructor, code).toBe(error.constructor);
    expect(arrived).toMatchObject({ name: error.name, code, message: `of ${code}` });
  }
  const bare = { status: 0, request: 'GET /v1/browser/session', retryable: true };
  expect(overTheWire(new ServiceError('TIMEOUT', 'm', bare))).toBeInstanceOf(ServiceError);
  expect(overTheWire(new LeaseError('ABORTED', 'm'))).toBeInstanceOf(LeaseError);
});
