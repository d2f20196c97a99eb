import type { Command } from 'commander';
import { print } from '../../common/text/notify.ts';
import { killGroup } from '../../emulator/chromium/kill-group.ts';
import { describeChromiums, type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/index.ts';
import { decimal, integer, portNumber } from '../flags.ts';
import { gone, npxParent, stopSignal } from '../stop.ts';

/** Options of the emulator, by the same names. */
interface EmulatorFlags extends Omit<EmulatorOptions, 'chromium' | 'onLog'> {
  chromium?: string;
  chromiumShell?: string;
  verbose?: boolean;
  json?: boolean;
}

const KEY_VARIABLE = 'POOLWRIGHT_API_KEY';
/** `npx` forwards a Ctrl-C that the terminal also sends here: a signal this soon after is the same one. */
const SAME_SIGNAL_MS = 500;

const HELP = `
API key: --api-key, else the variable ${KEY_VARIABLE} (which keeps it out of the process list), else a random key.
Chromium: sessions of type hosted run on a headless shell (--chromium-shell, POOLWRIGHT_CHROMIUM_SHELL); stealth and
privacy types, profiles and extensions on full Chromium (--chromium, POOLWRIGHT_CHROMIUM). The defaults are Playwright's
download, then the system's. If you name only full Chromium, it runs all sessions.
Distance and errors: --rtt, --start-delay, --start-jitter and --error-rate simulate a distant, unreliable service. Inject
other faults at run time: POST /__emulator/faults (docs/emulator.md).
Ctrl-C stops the emulator and all browsers; a second Ctrl-C kills them. Started by npx, it stops when npx ends.`;

/** `poolwright emulator`: the hosted-browser service on this machine. */
export function addEmulatorCommand(program: Command): void {
  program
    .command('emulator')
    .description('Run the emulator: the hosted-browser service on this machine, with real Chromium')
    .option(
      '--host <address>',
      'address to listen on (default: 127.0.0.1); addresses other than loopback also need --allow-remote',
    )
    .option('--allow-remote', 'allow remote connections: everyone with the key can run browsers on this machine')
    .option('--port <number>', 'port to listen on (default: any free one)', portNumber)
    .option('--api-key <key>', `key that clients send (default: ${KEY_VARIABLE}, else a random one)`)
    .option('--concurrent-browsers <number>', 'maximum number of sessions at once (default: 10)', integer)
    .option('--warm-browser-cap <number>', 'maximum number of warm browsers in all pools (default: 30)', integer)
    .option('--balance-cents <number>', 'balance; when it is used up, creates fail with 402 (default: 100000)', integer)
    .option('--chromium <path>', 'full Chromium; without --chromium-shell, for all sessions')
    .option('--chromium-shell <path>', 'headless shell for sessions of type hosted')
    .option('--data <directory>', 'keep profiles and extensions there between runs (default: deleted)')
    .option('--no-extension-access', 'respond with 403 to all requests about extensions')
    .option('--allow-loopback', "let browsers reach this machine's loopback, unlike hosted browsers")
    .option('--rtt <ms>', 'round-trip time of CDP connections (default: 0)', integer)
    .option('--start-delay <ms>', 'additional start time of each browser (default: 0)', integer)
    .option('--start-jitter <ms>', 'random additional start time, up to this (default: 0)', integer)
    .option(
      '--error-rate <share>',
      'share of requests that fail with 429, 500, 502 or 503, from 0 to 1 (default: 0)',
      decimal,
    )
    .option(
      '--seed <number>',
      'seed of random errors and jitter: the same seed makes the same choices (default: 1)',
      integer,
    )
    .option('--verbose', 'log to stderr')
    .option('--json', 'print the address and the key as one line of JSON')
    .addHelpText('after', HELP)
    .action(runEmulator);
}

async function runEmulator({
  json,
  verbose,
  apiKey,
  chromium,
  chromiumShell,
  ...options
}: EmulatorFlags): Promise<void> {
  const fromEnvironment = apiKey === undefined ? process.env[KEY_VARIABLE] || undefined : undefined;
  const emulator = await startEmulator({
    ...options,
    chromium: { full: chromium, shell: chromiumShell },
    apiKey: apiKey ?? fromEnvironment,
    onLog: verbose ? (line) => void print(line) : undefined,
  });
  // Before the address is printed, because a reader of it may end this process.
  const npx = await npxParent();
  const asked = Promise.race([stopSignal(), ...(npx === undefined ? [] : [gone(npx)])]);
  // A key from the environment may be the real service's: it is not repeated.
  const shownKey = fromEnvironment === undefined ? emulator.apiKey : null;
  process.stdout.write(json ? jsonLine(emulator, shownKey) : instructions(emulator, shownKey));
  await asked;
  const killed = stopSignal(SAME_SIGNAL_MS).then(() => {
    emulator.browserPids().forEach(killGroup);
    process.exitCode = 1;
  });
  await Promise.race([emulator.stop(), killed]);
}

function jsonLine({ baseURL, port, chromiums }: Emulator, apiKey: string | null): string {
  return `${JSON.stringify({ baseURL, apiKey, port, pid: process.pid, chromiums })}\n`;
}

function instructions({ baseURL, chromiums }: Emulator, apiKey: string | null): string {
  const key = apiKey === null ? `# ${KEY_VARIABLE}: the one in the environment` : `export ${KEY_VARIABLE}=${apiKey}`;
  return `The hosted-browser service runs at ${baseURL} (description: ${baseURL}/doc).
To use it, in the shell of your tests:

  export POOLWRIGHT_BASE_URL=${baseURL}
  ${key}

Chromium: ${chromiums ? describeChromiums(chromiums).join('\n          ') : 'none'}
Ctrl-C stops it and every browser.
`;
}
