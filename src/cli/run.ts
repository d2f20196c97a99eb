import { Command, CommanderError } from 'commander';
import { errorMessage } from '../common/error-message.ts';
import { print } from '../common/text/notify.ts';
import { OptionsError, PoolwrightError } from '../errors.ts';
import { printableLines } from '../printable.ts';
import { NEXT_STEPS } from '../record/failures.ts';
import { redactText } from '../redact.ts';
import { printJson } from './print.ts';

/** Each command is loaded on demand, with its client or emulator. */
export const COMMANDS: Record<string, () => Promise<(program: Command) => void>> = {
  account: async () => (await import('./commands/account.ts')).addAccountCommand,
  doctor: async () => (await import('./doctor/index.ts')).addDoctorCommand,
  emulator: async () => (await import('./commands/emulator.ts')).addEmulatorCommand,
  exec: async () => (await import('./commands/endpoint.ts')).addExecCommand,
  extensions: async () => (await import('./commands/extensions.ts')).addExtensionsCommand,
  init: async () => (await import('./commands/init.ts')).addInitCommand,
  ips: async () => (await import('./commands/account.ts')).addIpsCommand,
  pools: async () => (await import('./commands/pools.ts')).addPoolsCommand,
  profiles: async () => (await import('./commands/profiles.ts')).addProfilesCommand,
  relay: async () => (await import('./relay/command.ts')).addRelayCommand,
  report: async () => (await import('./report/report.ts')).addReportCommand,
  serve: async () => (await import('./commands/endpoint.ts')).addServeCommand,
  sessions: async () => (await import('./commands/sessions.ts')).addSessionsCommand,
  sweep: async () => (await import('./commands/sweep.ts')).addSweepCommand,
  watch: async () => (await import('./watch/command.ts')).addWatchCommand,
  // Last: it suggests those above.
  completion: async () => (await import('./commands/completion.ts')).addCompletionCommand,
};

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

const USAGE = 'Add --help to the command: it lists arguments and options.';
const BUG = 'Report this bug of poolwright, with the output of `npx poolwright doctor --json`.';

/** 0: done, 1: failed, 2: bad usage. */
type ExitCode = 0 | 1 | 2;

/** Says what went wrong, for a person (no stack for a person's mistake) or as JSON; returns the exit code. */
function reportFailure(error: unknown, json: boolean): ExitCode {
  // Commander has printed it already; its zero is for --help and --version.
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const message = printableLines(redactText(error.message.replace(/^error: /, '')));
    if (json) printJson({ error: { code: 'OPTIONS_INVALID', message, next: USAGE } });
    return 2;
  }
  const known = error instanceof PoolwrightError;
  const message = printableLines(redactText(errorMessage(error)));
  const [code, next] = known ? [error.code, NEXT_STEPS[error.code]] : ['INTERNAL', BUG];
  if (json) printJson({ error: { code, message, next } });
  else void print(`poolwright: ${known ? `${message} [${code}]` : describeBug(error)}`);
  const isUsage = error instanceof OptionsError || (known && error.code === 'REQUEST_INVALID');
  return isUsage ? 2 : 1;
}

function describeBug(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `this is a bug in poolwright; please report it.\n${printableLines(redactText(text))}`;
}
