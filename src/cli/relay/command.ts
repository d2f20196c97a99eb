import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Command } from 'commander';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { needsNoTls } from '../../options/schema/relay-address.ts';
import { findPlaywrights, type PlaywrightVersions } from '../../relay/playwright-versions.ts';
import { MIN_SECRET_LENGTH, RELAY_SECRET } from '../../relay/relay-token.ts';
import { type RelayOptions, startRelay } from '../../relay/server.ts';
import { integer, portNumber } from '../flags.ts';
import { gone, npxParent, stopSignal } from '../stop.ts';

interface RelayFlags {
  host: string;
  port: number;
  cert?: string;
  key?: string;
  behindTls?: boolean;
  allow: string[];
  allowPrivate?: boolean;
  playwright: string;
  maxLeases: number;
  maxMemory: number;
  maxMinutes: number;
  user?: string;
  json?: boolean;
}

const HELP = `
Beta. Run it near the browsers, and set the option relay (or POOLWRIGHT_RELAY) where the tests run. Both sides need the
same ${RELAY_SECRET}, of ${MIN_SECRET_LENGTH} characters or more. Clients can write files as the user of the leases: one relay serves
people who trust each other. See docs/relay.md.`;

/** `poolwright relay`: Playwright's server near the browsers. */
export function addRelayCommand(program: Command): void {
  program
    .command('relay')
    .description('Beta: run Playwright near the browsers, so that an action takes one round trip')
    .option('--host <address>', 'address to listen on; others than loopback need TLS', '127.0.0.1')
    .option('--port <number>', 'port to listen on (0: any free one)', portNumber, 0)
    .option('--cert <file>', 'TLS certificate, in PEM; also needs --key')
    .option('--key <file>', "the certificate's key, in PEM")
    .option('--behind-tls', 'a proxy in front of the relay terminates TLS')
    .option('--allow <host...>', 'hosts of browsers, such as cdp.example.com or *.example.com', [])
    .option('--allow-private', 'browsers may have private addresses')
    .option('--playwright <directory>', 'directory whose node_modules contain the Playwright versions', '.')
    .option('--max-leases <number>', 'leases at a time', integer, 10)
    .option('--max-memory <MB>', 'memory of one lease', integer, 1024)
    .option('--max-minutes <number>', 'duration of one lease', integer, 240)
    .option('--user <uid:gid>', 'account of the leases; required for root')
    .option('--json', 'print the port as one line of JSON')
    .addHelpText('after', HELP)
    .action(relay);
}

async function relay({ json, ...flags }: RelayFlags): Promise<void> {
  const options = await optionsFrom(flags);
  const running = await startRelay(options);
  // Before the port is printed, because a reader of it may end this process.
  const npx = await npxParent();
  const asked = Promise.race([stopSignal(), ...(npx === undefined ? [] : [gone(npx)])]);
  const versions = [...options.playwrights.keys()];
  const { port } = running;
  process.stdout.write(
    json
      ? `${JSON.stringify({ port, pid: process.pid, versions })}\n`
      : `The relay listens on port ${port}, for Playwright ${versions.join(', ')}. Ctrl-C stops it and ends all leases.\n`,
  );
  await asked;
  await running.stop();
}

async function optionsFrom(flags: Omit<RelayFlags, 'json'>): Promise<RelayOptions> {
  const { host, port, allow, allowPrivate = false, maxLeases, maxMemory, maxMinutes } = flags;
  if (process.platform === 'win32') {
    throw new OptionsError('relay', '`poolwright relay` does not run on Windows: it needs named pipes.');
  }
  if (allow.length === 0) {
    throw new OptionsError(
      '--allow',
      '`--allow` is missing: name the hosts of your browsers (the host of a `cdpUrl`).',
    );
  }
  return {
    host,
    port,
    tls: await tlsFrom(flags),
    secret: secretFrom(process.env),
    allowed: { hosts: allow, allowPrivate },
    playwrights: await playwrightsIn(flags.playwright),
    limits: {
      leases: atLeastOne('--max-leases', maxLeases),
      memoryMB: atLeastOne('--max-memory', maxMemory),
      minutes: atLeastOne('--max-minutes', maxMinutes),
    },
    user: userFrom(flags.user),
    onLog: notify,
  };
}

async function tlsFrom({ host, cert, key, behindTls }: Omit<RelayFlags, 'json'>): Promise<RelayOptions['tls']> {
  if (cert !== undefined && key !== undefined) {
    const read = { cert: await readPem('--cert', cert), key: await readPem('--key', key) };
    checkTls('--cert', cert, { cert: read.cert });
    checkTls('--key', key, { key: read.key });
    // Each is one by itself: now, whether they belong together.
    checkTls('--key', key, read);
    return read;
  }
  if (cert !== undefined || key !== undefined)
    throw new OptionsError('--cert', '`--cert` and `--key` need each other.');
  if (behindTls || needsNoTls(host)) return null;
  throw new OptionsError(
    '--host',
    `\`--host ${host}\` needs TLS, because addresses of browsers cross the connection: set \`--cert\` and \`--key\`, or \`--behind-tls\` if a proxy in front of the relay terminates TLS.`,
  );
}

async function readPem(flag: string, file: string): Promise<string> {
  return await readFile(file, 'utf8').catch((error: unknown) => {
    throw new OptionsError(flag, `\`${flag} ${file}\` cannot be read: ${errorMessage(error)}`);
  });
}

function checkTls(flag: string, file: string, pem: { cert?: string; key?: string }): void {
  try {
    createSecureContext(pem);
  } catch (error) {
    const wanted = flag === '--cert' ? 'a certificate' : "the certificate's key";
    throw new OptionsError(flag, `\`${flag} ${file}\` is not ${wanted} in PEM: ${errorMessage(error)}`);
  }
}

function secretFrom(environment: NodeJS.ProcessEnv): string {
  const secret = environment[RELAY_SECRET] ?? '';
  if (secret.length >= MIN_SECRET_LENGTH) return secret;
  throw new OptionsError(
    RELAY_SECRET,
    `${RELAY_SECRET} must have ${MIN_SECRET_LENGTH} characters or more. Set the same value here and where the tests run.`,
    'ENVIRONMENT_MISSING',
  );
}

async function playwrightsIn(directory: string): Promise<PlaywrightVersions> {
  const found = await findPlaywrights(directory);
  if (found.size > 0) return found;
  throw new OptionsError(
    '--playwright',
    `No playwright-core in ${directory}/node_modules. Install the version of your tests there: npm install playwright-core@<version>`,
  );
}

/** Node's own notion of an account: root would let clients write any file. */
function userFrom(text: string | undefined): RelayOptions['user'] {
  if (text === undefined) {
    if (process.getuid?.() !== 0) return undefined;
    throw new OptionsError(
      '--user',
      'Clients can write files as the user of the leases, which must not be root: set `--user <uid:gid>`, such as `--user 65534:65534`.',
    );
  }
  const [, uid, gid] = /^([1-9]\d*):([1-9]\d*)$/.exec(text) ?? [];
  if (process.getuid?.() !== 0) {
    throw new OptionsError('--user', '`--user` needs root: otherwise leases run as the account of the relay.');
  }
  if (uid === undefined)
    throw new OptionsError('--user', `\`--user\` must be <uid:gid> in numbers above 0, got "${text}".`);
  return { uid: Number(uid), gid: Number(gid) };
}

function atLeastOne(flag: string, value: number): number {
  if (value >= 1) return value;
  throw new OptionsError(flag, `\`${flag}\` must be 1 or more, got ${value}.`);
}
