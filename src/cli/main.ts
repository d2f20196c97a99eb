#!/usr/bin/env node
import { Command } from 'commander';
import { version } from 'poolwright/package.json';
import { reportFailure } from './failure.ts';

/** The command line. Each command is a file that adds itself; all of them throw, and only this file ends the process. */

const program = new Command('poolwright')
  .description('Playwright Test on hosted browsers.')
  .version(version)
  .showHelpAfterError('(add --help for the options)')
  .exitOverride();

/** Each is loaded when it is asked for, with what it needs: a client for some, an emulator for others. */
const commands: Record<string, () => Promise<(program: Command) => void>> = {
  account: async () => (await import('./commands/account.ts')).addAccountCommand,
  doctor: async () => (await import('./doctor/index.ts')).addDoctorCommand,
  emulator: async () => (await import('./commands/emulator.ts')).addEmulatorCommand,
  extensions: async () => (await import('./commands/extensions.ts')).addExtensionsCommand,
  init: async () => (await import('./commands/init.ts')).addInitCommand,
  ips: async () => (await import('./commands/ips.ts')).addIpsCommand,
  pools: async () => (await import('./commands/pools.ts')).addPoolsCommand,
  profiles: async () => (await import('./commands/profiles.ts')).addProfilesCommand,
  report: async () => (await import('./commands/report.ts')).addReportCommand,
  sessions: async () => (await import('./commands/sessions.ts')).addSessionsCommand,
  sweep: async () => (await import('./commands/sweep.ts')).addSweepCommand,
};
const [first = ''] = process.argv.slice(2);
// Anything else than a name may need all of them: help, a name that is nearly one.
const asked = Object.hasOwn(commands, first) ? [first] : Object.keys(commands);
for (const name of asked) (await commands[name]?.())?.(program);

// What was asked for is done to its end, also when its output gets nowhere.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.stdout.once('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || error.code === 'EIO') return; // nobody reads any more: `| head`, a closed terminal
  process.stderr.write(`poolwright: the output could not be written: ${error.message}\n`);
  process.exitCode = 1;
});

try {
  await program.parseAsync();
  process.exitCode ??= 0;
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes('--json'));
}
