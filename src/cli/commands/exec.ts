import type { Command } from 'commander';
import { execCommand, exitCodeOf } from '../../endpoint/exec.ts';
import { gone, npxParent } from '../stop.ts';
import { type BrowserFlags, browsersOf, withBrowserFlags } from './browser-flags.ts';

const HELP = `
Examples:
  npx poolwright exec -- node scrape.mjs
  npx poolwright exec --pool checkout -- npx lighthouse https://example.com
  npx poolwright exec -- tool --browser {program}
  npx poolwright exec -- tool --cdp-url {endpoint}
  npx poolwright exec -- tool --port {port}

In the command's environment, CHROME_PATH, CHROME_BIN, PUPPETEER_EXECUTABLE_PATH and PLAYWRIGHT_MCP_EXECUTABLE_PATH name
a program that is a hosted browser, and POOLWRIGHT_ENDPOINT is an address of one (docs/tools.md).`;

/** `poolwright exec -- <command>`: runs a command whose browsers are hosted. */
export function addExecCommand(program: Command): void {
  // Flags after the command belong to that command.
  const command = program
    .enablePositionalOptions()
    .command('exec')
    .description('Run any command whose browsers are hosted')
    .argument('<command...>', 'the command and its arguments, after `--`');
  withBrowserFlags(command).passThroughOptions().addHelpText('after', HELP).action(run);
}

async function run(words: string[], flags: BrowserFlags): Promise<void> {
  const start = await browsersOf(flags);
  const npx = await npxParent();
  const end = await execCommand(words, start, npx === undefined ? undefined : gone(npx));
  process.exitCode = exitCodeOf(end);
  // As if this process had been the command.
  if ('signal' in end) process.kill(process.pid, end.signal);
}
