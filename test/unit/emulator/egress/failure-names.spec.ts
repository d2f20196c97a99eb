import { expect, test } from '@playwright/test';
import { FailureNames } from '../../../../src/emulator/egress/failure-names.ts';

const SOCKS = 'net::ERR_SOCKS_CONNECTION_FAILED';
const failed = { method: 'Network.loadingFailed', params: { requestId: '1', errorText: SOCKS } };
const navigated = { id: 3, result: { frameId: 'f', loaderId: 'l', errorText: SOCKS } };

function through(names: FailureNames, message: object): unknown {
  return JSON.parse(names.named(Buffer.from(JSON.stringify(message))).toString());
}

test('names the reason of a failure when all recent ones had it', () => {
  const names = new FailureNames();
  expect(through(names, failed)).toEqual(failed);
  names.note('net::ERR_NAME_NOT_RESOLVED');
  names.note('net::ERR_NAME_NOT_RESOLVED');
  expect(through(names, failed)).toMatchObject({ params: { errorText: 'net::ERR_NAME_NOT_RESOLVED' } });
  expect(through(names, navigated)).toMatchObject({ result: { errorText: 'net::ERR_NAME_NOT_RESOLVED' } });
});

test("keeps Chromium's name when the reason is not certain or has no other name", () => {
  const names = new FailureNames();
  names.note('net::ERR_NAME_NOT_RESOLVED');
  names.note('net::ERR_CONNECTION_REFUSED');
  expect(through(names, failed)).toEqual(failed);
  const refused = new FailureNames();
  refused.note(undefined);
  expect(through(refused, failed)).toEqual(failed);
});

test('changes no other messages, whatever they contain', () => {
  const names = new FailureNames();
  names.note('net::ERR_NAME_NOT_RESOLVED');
  for (const message of [
    { method: 'Runtime.consoleAPICalled', params: { args: [{ value: SOCKS }] } },
    { id: 4, result: { result: { value: SOCKS } } },
  ]) {
    expect(through(names, message)).toEqual(message);
  }
});
