import { expect, test } from '@playwright/test';
import { denialOf } from '../../../src/relay/lease/denied-calls.ts';

test('denies calls that start a program or connect elsewhere, however they are written', () => {
  const denied = [
    'launch',
    'launchPersistentContext',
    'connect',
    'connectOverCDP',
    'newRequest',
    'devices',
    'startServer',
  ];
  for (const method of [...denied, 'showRecorder']) {
    const denial = JSON.parse(
      denialOf(JSON.stringify({ id: 7, guid: 'browser-type@1', method, params: {} })) ?? 'null',
    );
    expect(denial).toEqual({ id: 7, error: { error: { name: 'Error', message: expect.stringContaining(method) } } });
  }
  expect(denialOf('{"id":"a@7","method":"launch"}')).toContain('"id":"a@7"');
  expect(denialOf('{"method":"launch"}')).not.toBeNull();
  expect(denialOf('{"id":1,"\\u006dethod":"l\\u0061unch"}')).not.toBeNull();
});

test('allows every other message', () => {
  for (const text of ['{"id":1,"method":"newContext","params":{"method":"launch"}}', 'x', '']) {
    expect(denialOf(text), text).toBeNull();
  }
});
