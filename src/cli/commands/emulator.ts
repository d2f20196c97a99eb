import type { Command } from 'commander';
import { killGroup } from '../../emulator/chromium/kill-group.ts';
import { describeChromiums, type Emulator, startEmulator } from '../../emulator/index.ts';
import { gone, npxParent } from '../npx-parent.ts';
import { decimal, integer } from '../numbers.ts';

interface EmulatorFlags {
  host?: string;
  allowRemote?: boolean;
  port?: number;
  apiKey?: string;
  concurrentBrowsers?: number;
  warmBrowserCap?: number;
  balanceCents?: number;
  chromium?: string;
  chromiumShell?: string;
  data?: string;
  extensionAccess?: boolean;
  allowLoopback?: boolean;
  rtt?: number;
  startDelay?: number;
  startJitter?: number;
  errorRate?: number;
  seed?: number;
  verbose?: boolean;
  json?: boolean;
}

const KEY_VARIABLE = 'POOLWRIGHT_API_KEY';
/** `npx` passes on a Ctrl-C that the terminal has sent here too: what comes this soon is the same one. */
const SAME_SIGNAL_MS = 500;

const HELP = `
The API key is --api-key, else the variable ${KEY_VARIABLE} (which keeps it out of the process list), else a random one.
Chromium: a headless shell for sessions of type hosted (--chromium-shell, POOLWRIGHT_CHROMIUM_SHELL), full Chromium for
stealth and privacy types, profiles and extensions (--chromium, POOLWRIGHT_CHROMIUM); each else Playwright's download,
else the system's. Full Chromium that is named alone is for all sessions.
--rtt, --start-delay, --start-jitter and --error-rate make it as slow and as unreliable as a service far away. Add
other faults while it runs: POST /__emulator/faults (docs/emulator.md).
Ctrl-C stops it and every browser; a second one kills them. Started by npx, it stops when npx is gone.`;

/** `poolwright emulator`: the hosted-browser service on this machine. */
export function addEmulatorCommand(program: Command): void {
  program
    .command('emulator')
    .description('Run the hosted-browser service on this machine, for this machine, with real Chromium browsers')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1); any but loopback needs --allow-remote, too')
    .option('--allow-remote', 'let other machines in: whoever has the key runs browsers on this one')
    .option('--port <number>', 'port to listen on (default: any free one)', integer)
    .option('--api-key <key>', `key that clients send (default: ${KEY_VARIABLE}, else a random one)`)
    .option('--concurrent-browsers <number>', 'how many sessions may run at once (default: 10)', integer)
    .option('--warm-browser-cap <number>', 'how many warm browsers all pools may ask for (default: 30)', integer)
    .option('--balance-cents <number>', 'what may be used up before creates answer 402 (default: 100000)', integer)
    .option('--chromium <path>', 'full Chromium to run; alone, for all sessions')
    .option('--chromium-shell <path>', 'headless shell to run for sessions of type hosted')
    .option('--data <folder>', 'keep profiles and extensions there between runs (default: nothing survives)')
    .option('--no-extension-access', 'answer 403 to all that has to do with extensions')
    .option('--allow-loopback', "let the browsers reach this machine's loopback, as no hosted browser can")
    .option('--rtt <ms>', 'round-trip time of the CDP links, half each way (default: 0)', integer)
    .option('--start-delay <ms>', 'how much longer every browser takes to start (default: 0)', integer)
    .option('--start-jitter <ms>', 'up to this much more, another time for each start (default: 0)', integer)
    .option(
      '--error-rate <share>',
      'share of requests, 0 to 1, that fail with 429, 500, 502 or 503 (default: 0)',
      decimal,
    )
    .option(
      '--seed <number>',
      'seed of random errors and jitter: the same number gives the same choices (default: 1)',
      integer,
    )
    .option('--verbose', 'log what happens to stderr')
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
    onLog: verbose ? (line) => process.stderr.write(`${line}\n`) : undefined,
  });
  // Before anybody is told that it runs: who knows may end it.
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

/** What asks to stop: on Windows, which delivers no SIGTERM, Ctrl-Break and a closed terminal do, too. */
export function stopSignals(platform: NodeJS.Platform): NodeJS.Signals[] {
  // Elsewhere a closed terminal ends who has no handler for it; with one, `nohup` could not keep an emulator.
  return platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];
}

/** Resolves at the first of {@link stopSignals} that comes at least `after` ms from now. */
function stopSignal(after = 0): Promise<void> {
  const since = Date.now();
  return new Promise((resolve) => {
    const onSignal = () => Date.now() - since >= after && resolve();
    for (const signal of stopSignals(process.platform)) process.on(signal, onSignal);
  });
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
