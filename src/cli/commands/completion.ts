import addCompletion from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/**
 * `poolwright completion <shell>`: prints a script for the shell. The script gets its suggestions from the hidden
 * command `complete`. Add it last: it suggests the commands that the program has then.
 */
export function addCompletionCommand(program: Command): void {
  addCompletion(program, { completionCommandName: 'completion' });
  const command = program.commands.find((each) => each.name() === 'completion');
  command?.description('Print a script that completes commands and flags in your shell');
}
