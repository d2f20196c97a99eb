#!/usr/bin/env node
import { Command } from 'commander';
import { version } from 'poolwright/package.json';
import { notify } from '../common/text/notify.ts';
import { COMMANDS } from './command-list.ts';
import { reportFailure } from './failure.ts';

/**
 * The command line. Each command is a file that adds itself; all of them throw, and only this file ends the process.
 */

const program = new Command('poolwright')
  .description('Playwright Test on hosted browsers.')
  .version(version)
  .showHelpAfterError('(add --help for the options)')
  .exitOverride();

const [first = ''] = process.argv.slice(2);
// Anything else than a name may need all of them: help, a name that is nearly one.
const asked = Object.hasOwn(COMMANDS, first) ? [first] : Object.keys(COMMANDS);
for (const name of asked) (await COMMANDS[name]?.())?.(program);

// What was asked for is done to its end, also when its output gets nowhere.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.stdout.once('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || error.code === 'EIO') return; // nobody reads any more: `| head`, a closed terminal
  notify(`the output could not be written: ${error.message}`);
  process.exitCode = 1;
});

try {
  await program.parseAsync();
  process.exitCode ??= 0;
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes('--json'));
}
