import type { Command } from 'commander';
import { withEndpoint } from '../../endpoint/with-endpoint.ts';
import { portNumber } from '../numbers.ts';
import { gone, npxParent, stopSignal } from '../stop.ts';
import { type BrowserFlags, browsersOf, withBrowserFlags } from './browser-flags.ts';

interface ServeFlags extends BrowserFlags {
  port?: number;
  json?: boolean;
}

/** `poolwright serve`: an address at which tools get hosted browsers, until it is stopped. */
export function addServeCommand(program: Command): void {
  withBrowserFlags(program.command('serve').description('Open an address at which any tool gets hosted browsers'))
    .option('--port <number>', 'port to listen on (default: any free one)', portNumber)
    .option('--json', 'print the address as one line of JSON')
    .action(run);
}

async function run({ port, json, ...flags }: ServeFlags): Promise<void> {
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
