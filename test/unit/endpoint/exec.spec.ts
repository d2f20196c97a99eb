import { expect, test } from '@playwright/test';
import { exitCodeOf, withPlaces } from '../../../src/endpoint/exec.ts';

test('replaces the places in arguments, and nothing else', () => {
  const values = { endpoint: 'ws://e', program: '/p' };
  expect(withPlaces('--a={program} {endpoint}{endpoint} {port} {}', values)).toBe('--a=/p ws://ews://e {port} {}');
  expect(withPlaces('{constructor}$&', values)).toBe('{constructor}$&');
});

test('a command that a signal has ended has the exit code of a shell', () => {
  expect(exitCodeOf({ code: 7 })).toBe(7);
  expect(exitCodeOf({ signal: 'SIGKILL' })).toBe(137);
  expect(exitCodeOf({ signal: 'SIGINT' })).toBe(130);
});
