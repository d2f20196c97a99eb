import { Command, CommanderError } from 'commander';
import { COMMANDS } from '../../../src/cli/run.ts';

/** The real command line: it parses its arguments and does nothing else. */
export async function commandLine(): Promise<Command> {
  const program = new Command('poolwright');
  for (const load of Object.values(COMMANDS)) (await load())(program);
  disarm(program);
  return program;
}

/** Returns the command line's error for these arguments; null if they are valid. */
export async function refusal(program: Command, args: string[]): Promise<string | null> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError && error.code === 'commander.helpDisplayed') return null;
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the unknown part of a mentioned command: its name, a subcommand, or an option; null if everything exists. */
export function unknownPart(program: Command, args: string[]): string | null {
  let command = program;
  for (const arg of args) {
    if (arg.startsWith('-')) {
      const flag = arg.replace(/=.*/, '');
      const isThere = flag === '--help' || command.options.some(({ long, short }) => long === flag || short === flag);
      if (!isThere) return flag;
      continue;
    }
    const next = command.commands.find((each) => each.name() === arg);
    if (next) command = next;
    else if (command.commands.length > 0) return arg;
  }
  return null;
}

function disarm(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  if (command.commands.length === 0) command.action(() => undefined);
  for (const each of command.commands) disarm(each);
}
