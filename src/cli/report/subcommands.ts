import type { Command } from 'commander';

/** Adds a command below `poolwright report`. */
export type Subcommand = (report: Command) => void;

/** Those that it can do without, one line each. */
export { addAdviseCommand } from './advise/command.ts';
