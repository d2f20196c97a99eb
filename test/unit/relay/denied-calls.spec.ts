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

test('denies visits of file: pages, and says what to do', () => {
  const visit = (url: unknown) => denialOf(JSON.stringify({ id: 3, guid: 'frame@1', method: 'goto', params: { url } }));
  for (const url of ['file:///etc/passwd', 'FILE:///x', ' file:///x']) {
    expect(visit(url)).toContain('serve the directory over HTTP, or run this test without the relay');
  }
  for (const url of ['http://localhost/file:///x', 'file', undefined, 7, null]) expect(visit(url)).toBeNull();
});

test('allows every other message', () => {
  for (const text of ['{"id":1,"method":"newContext","params":{"method":"launch"}}', 'x', '']) {
    expect(denialOf(text), text).toBeNull();
  }
});
