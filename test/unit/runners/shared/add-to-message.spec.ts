import { expect, test } from '@playwright/test';
import { addToMessage } from '../../../../src/runners/shared/add-to-message.ts';

/** Notes on failed tests. */

test('adds a text to message and stack once, behind the cause', () => {
  const error = new Error('costs $& more');
  const frames = error.stack?.split('\n').slice(1).join('\n');
  addToMessage(error, '(note)');
  addToMessage(error, '(note)');
  expect(error.message).toBe('costs $& more\n(note)');
  expect(error.stack).toBe(`Error: costs $& more\n(note)\n${frames}`);
  const empty = new Error('');
  addToMessage(empty, '(note)');
  expect(empty.stack).toMatch(/^Error: ?\n\(note\)\n\s+at /);
  const explained = new Error('failed to fetch');
  addToMessage(explained, '(note)', 'its server was not reached');
  expect(explained.message).toBe('its server was not reached\n\nfailed to fetch\n(note)');
  expect(explained.stack).toMatch(/^Error: its server was not reached\n\nfailed to fetch\n\(note\)\n\s+at /);
  for (const other of [undefined, null, 'text', { message: 7 }]) addToMessage(other, '(note)');
});
