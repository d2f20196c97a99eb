#!/usr/bin/env node
import { Command } from 'commander';
import { version } from 'poolwright/package.json';
import { addAccountCommand } from './commands/account.ts';
import { addEmulatorCommand } from './commands/emulator.ts';
import { addExtensionsCommand } from './commands/extensions.ts';
import { addIpsCommand } from './commands/ips.ts';
import { addPoolsCommand } from './commands/pools.ts';
import { addProfilesCommand } from './commands/profiles.ts';
import { addReportCommand } from './commands/report.ts';
import { addSessionsCommand } from './commands/sessions.ts';
import { addSweepCommand } from './commands/sweep.ts';
import { addDoctorCommand } from './doctor/index.ts';
import { reportFailure } from './failure.ts';

/** The command line. Each command is a file that adds itself; all of them throw, and only this file ends the process. */

const program = new Command('poolwright')
  .description('Playwright Test on hosted browsers.')
  .version(version)
  .showHelpAfterError('(add --help for the options)')
  .exitOverride();

addAccountCommand(program);
addDoctorCommand(program);
addEmulatorCommand(program);
addExtensionsCommand(program);
addIpsCommand(program);
addPoolsCommand(program);
addProfilesCommand(program);
addReportCommand(program);
addSessionsCommand(program);
addSweepCommand(program);

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
