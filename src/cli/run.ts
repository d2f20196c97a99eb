import { Command } from 'commander';
import { COMMANDS } from './command-list.ts';
import { reportFailure } from './failure.ts';

/**
 * Runs one command line; its exit code is in `process.exitCode` then. Each command is a file that adds itself; all of
 * them throw, and none ends the process.
 * @param args without the program: `['sessions', 'list']`
 * @param version what `--version` prints
 */
export async function runCommandLine(args: readonly string[], version: string): Promise<void> {
  const program = new Command('poolwright')
    .description('Playwright Test on hosted browsers.')
    .version(version)
    .showHelpAfterError('(add --help for the options)')
    .exitOverride();
  const [first = ''] = args;
  // Anything else than a name may need all of them: help, what a shell may suggest, a name that is nearly one.
  const asked = Object.hasOwn(COMMANDS, first) ? [first] : Object.keys(COMMANDS);
  for (const name of asked) (await COMMANDS[name]?.())?.(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    process.exitCode ??= 0;
  } catch (error) {
    process.exitCode = reportFailure(error, args.includes('--json'));
  }
}
