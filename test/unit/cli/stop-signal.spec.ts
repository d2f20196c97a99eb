import { constants } from 'node:os';
import { expect, test } from '@playwright/test';
import { stopSignals } from '../../../src/cli/stop.ts';

test('stops the emulator on the signals of the platform', () => {
  expect(stopSignals('linux')).toEqual(['SIGINT', 'SIGTERM']);
  expect(stopSignals('darwin')).toEqual(['SIGINT', 'SIGTERM']);
  // Ctrl-C, Ctrl-Break, and the terminal’s window closed: SIGTERM cannot be sent to a process there, only its end.
  expect(stopSignals('win32')).toEqual(['SIGINT', 'SIGBREAK', 'SIGHUP']);
  for (const signal of stopSignals(process.platform)) expect(constants.signals).toHaveProperty(signal);
});
