#!/usr/bin/env node
import { Command } from 'commander';
import { version } from 'poolwright/package.json';
import { addAccountCommand } from './account.ts';
import { addDoctorCommand } from './doctor/index.ts';
import { addEmulatorCommand } from './emulator.ts';
import { addExtensionsCommand } from './extensions.ts';
import { reportFailure } from './failure.ts';
import { addIpsCommand } from './ips.ts';
import { addPoolsCommand } from './pools.ts';
import { addProfilesCommand } from './profiles.ts';
import { addReportCommand } from './report.ts';
import { addSessionsCommand } from './sessions.ts';
import { addSweepCommand } from './sweep.ts';

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

// Whoever stops reading (`| head`) misses the rest; what was asked for is done to its end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

try {
  await program.parseAsync();
  process.exitCode ??= 0;
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes('--json'));
}
