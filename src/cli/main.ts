#!/usr/bin/env node
import { version } from 'poolwright/package.json';
import { notify } from '../common/text/notify.ts';
import { runCommandLine } from './run.ts';

/** The process of the command line. */

// The command runs to its end even if its output cannot be written.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.stdout.once('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || error.code === 'EIO') return; // nobody reads any more: `| head`, a closed terminal
  notify(`the output could not be written: ${error.message}`);
  process.exitCode = 1;
});

await runCommandLine(process.argv.slice(2), version);
