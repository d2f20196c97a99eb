import type { Command } from 'commander';
import { execCommand, exitCodeOf } from '../../endpoint/exec.ts';
import { type EndpointStart, withEndpoint } from '../../endpoint/with-endpoint.ts';
import { OptionsError } from '../../errors.ts';
import { parseHostedOptions } from '../../options/schema/parse.ts';
import { integer, portNumber, readSettings } from '../flags.ts';
import { gone, npxParent, stopSignal } from '../stop.ts';

interface ServeFlags extends BrowserFlags {
  port?: number;
  json?: boolean;
}

/** `poolwright serve`: an address at which tools get hosted browsers, until it is stopped. */
export function addServeCommand(program: Command): void {
  withBrowserFlags(program.command('serve').description('Open an address at which any tool gets hosted browsers'))
    .option('--port <number>', 'port to listen on (default: any free one)', portNumber)
    .option('--json', 'print the address as one line of JSON')
    .action(serve);
}

async function serve({ port, json, ...flags }: ServeFlags): Promise<void> {
  const start = await browsersOf(flags);
  const npx = await npxParent();
  const asked = Promise.race([stopSignal(), ...(npx === undefined ? [] : [gone(npx)])]);
  await withEndpoint('serve', { ...start, port }, async ({ url }) => {
    process.stdout.write(json ? `${JSON.stringify({ endpoint: url, pid: process.pid })}\n` : instructions(url));
    await asked;
  });
}

function instructions(url: string): string {
  return `Each connection to this address leases a hosted browser. Everyone who knows it can use browsers.

  export POOLWRIGHT_ENDPOINT=${url}

For connectOverCDP() and Puppeteer's connect(); with /playwright behind it, for Playwright's connect(); with http: in
place of ws:, for /json/version. Ctrl-C stops it, and gives every browser back.
`;
}

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
  withBrowserFlags(command).passThroughOptions().addHelpText('after', HELP).action(exec);
}

async function exec(words: string[], flags: BrowserFlags): Promise<void> {
  const start = await browsersOf(flags);
  const npx = await npxParent();
  const end = await execCommand(words, start, npx === undefined ? undefined : gone(npx));
  process.exitCode = exitCodeOf(end);
  // As if this process had been the command.
  if ('signal' in end) process.kill(process.pid, end.signal);
}

/** Flags of commands that lease browsers. */
interface BrowserFlags {
  config?: string;
  pool?: string;
  session?: string;
  exposeNetwork?: string;
  max?: number;
}

function withBrowserFlags(command: Command): Command {
  return command
    .option('-c, --config <file>', 'options file (default: poolwright.config.* in the working directory)')
    .option('--pool <pool>', 'lease from this pool')
    .option('--session <file>', 'JSON file with the settings of created sessions (type, country, proxyUrl …)')
    .option('--expose-network <rules>', 'which servers of this machine the pages reach (default: auto)')
    .option(
      '--max <number>',
      'how many browsers there may be at the same time (default: as many as the plan allows)',
      integer,
    );
}

/** @throws OptionsError for an invalid flag or file */
async function browsersOf({ config, max, session, ...rest }: BrowserFlags): Promise<EndpointStart> {
  if (max !== undefined && max < 1) throw new OptionsError('--max', '`--max` must be at least 1.');
  const given = { ...rest, ...(session !== undefined && { session: await readSettings('--session', session) }) };
  return { config, max, options: parseHostedOptions(given, 'the flags of this command') };
}
