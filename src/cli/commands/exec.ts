import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { errorMessage } from '../../common/error-message.ts';
import { execCommand, exitCodeOf } from '../../endpoint/exec.ts';
import { OptionsError } from '../../errors.ts';
import { parseHostedOptions } from '../../options/schema/parse.ts';
import { gone, npxParent } from '../npx-parent.ts';
import { integer } from '../numbers.ts';

interface ExecFlags {
  config?: string;
  pool?: string;
  session?: string;
  exposeNetwork?: string;
  max?: number;
}

const HELP = `
Examples:
  npx poolwright exec -- node scrape.mjs
  npx poolwright exec --pool checkout -- npx lighthouse https://example.com
  npx poolwright exec -- tool --browser {program}
  npx poolwright exec -- tool --cdp-url {endpoint}

In the command's environment, CHROME_PATH, CHROME_BIN, PUPPETEER_EXECUTABLE_PATH and PLAYWRIGHT_MCP_EXECUTABLE_PATH name
a program that is a hosted browser, and POOLWRIGHT_ENDPOINT is an address of one (docs/tools.md).`;

/** `poolwright exec -- <command>`: runs a command whose browsers are hosted. */
export function addExecCommand(program: Command): void {
  // What follows the command is the command's.
  program
    .enablePositionalOptions()
    .command('exec')
    .description('Run any command whose browsers are hosted')
    .argument('<command...>', 'the command and its arguments, after `--`')
    .option('-c, --config <file>', 'options file (default: poolwright.config.* in the working directory)')
    .option('--pool <pool>', 'lease from this pool')
    .option('--session <file>', 'JSON file with the settings of created sessions (type, country, proxyUrl …)')
    .option('--expose-network <rules>', 'which servers of this machine the pages reach (default: auto)')
    .option(
      '--max <number>',
      'how many browsers there may be at the same time (default: as many as the plan allows)',
      integer,
    )
    .passThroughOptions()
    .addHelpText('after', HELP)
    .action(run);
}

async function run(words: string[], { config, max, session, ...rest }: ExecFlags): Promise<void> {
  if (max !== undefined && max < 1) throw new OptionsError('--max', '`--max` must be at least 1.');
  const given = { ...rest, ...(session !== undefined && { session: await readSession(session) }) };
  const options = parseHostedOptions(given, 'the flags of `poolwright exec`');
  const npx = await npxParent();
  const end = await execCommand({ words, config, options, max }, npx === undefined ? undefined : gone(npx));
  process.exitCode = exitCodeOf(end);
  // As if this process had been the command.
  if ('signal' in end) process.kill(process.pid, end.signal);
}

/** From a file: it may contain a proxy's password, and all users of the machine can see arguments. */
async function readSession(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    // The parser's own message quotes the text.
    const why = error instanceof SyntaxError ? 'is not valid JSON' : errorMessage(error);
    throw new OptionsError('--session', `--session: ${file} ${why}.`);
  }
}
