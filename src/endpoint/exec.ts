import { type ChildProcess, spawn } from 'node:child_process';
import { constants as os } from 'node:os';
import { basename } from 'node:path';
import { BROKER_VARIABLE } from '../broker/rpc/shared-broker.ts';
import { errorMessage } from '../common/error-message.ts';
import { notify } from '../common/text/notify.ts';
import { OptionsError } from '../errors.ts';
import { SETTINGS_VARIABLE } from '../runners/shared/worker-settings.ts';
import type { Endpoint } from './endpoint.ts';
import { programFile } from './program-file.ts';
import { type EndpointStart, withEndpoint } from './with-endpoint.ts';

export type CommandEnd = { code: number } | { signal: NodeJS.Signals };

/** The variables in which tools look for the path of a browser. */
const PROGRAM_VARIABLES = ['CHROME_PATH', 'CHROME_BIN', 'PUPPETEER_EXECUTABLE_PATH', 'PLAYWRIGHT_MCP_EXECUTABLE_PATH'];
/** The variable with the endpoint's address. */
const ENDPOINT_VARIABLE = 'POOLWRIGHT_ENDPOINT';

/** Secrets of the run, and its wiring: the command needs only the endpoint. */
const NOT_FOR_COMMANDS = [
  BROKER_VARIABLE,
  SETTINGS_VARIABLE,
  'POOLWRIGHT_API_KEY',
  'POOLWRIGHT_CDP_URL',
  'POOLWRIGHT_RELAY_SECRET',
];

/** After SIGTERM or SIGHUP. Ctrl-C has no limit: interactive commands survive it. */
const LIMITS = {
  /** ms until the user is told what is waited for. */
  noticeMs: 5_000,
  /** ms until the command gets SIGKILL. */
  endMs: 30_000,
};

/** What a shell exits with when a command does not exist, or cannot be run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/**
 * Runs a command whose browsers are hosted. When it has ended, every browser is given back, and the run is recorded.
 * @param asked resolves when this process is to end the command
 * @throws OptionsError, ServiceError or EmulatorError before the command starts; PoolwrightError `BUDGET_EXCEEDED`
 */
export async function execCommand(
  words: readonly string[],
  start: EndpointStart,
  asked: Promise<unknown> = new Promise(() => undefined),
): Promise<CommandEnd> {
  if (process.platform === 'win32') {
    throw new OptionsError(
      'exec',
      '`poolwright exec` runs on Linux and macOS: Windows cannot start its program in place of a browser.',
    );
  }
  // As of a variable that is not set.
  if (!words[0]) throw new OptionsError('exec', '`poolwright exec`: the command is empty.');
  const program = programFile();
  const command = basename(words[0]);
  return await withEndpoint(command, start, async (endpoint) => await runCommand(words, endpoint, program, asked));
}

/** Runs a command to its end. Exported for its test. */
export async function runCommand(
  words: readonly string[],
  { url, openPort }: Pick<Endpoint, 'url' | 'openPort'>,
  program: string,
  asked: Promise<unknown>,
  limits = LIMITS,
): Promise<CommandEnd> {
  const port = words.some((word) => word.includes('{port}')) ? String(await openPort()) : '';
  const [command = '', ...args] = words.map((word) => withPlaces(word, { endpoint: url, port, program }));
  const env = commandEnvironment(process.env, { url, program });
  let child: ChildProcess;
  try {
    child = spawn(command, args, { stdio: 'inherit', env, windowsHide: true });
  } catch (error) {
    // Node has an event for some reasons only.
    return notStarted(command, error);
  }
  const timers: NodeJS.Timeout[] = [];
  let hasEnded = false;
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    if (signal === 'SIGINT' || hasEnded || timers.length > 0) return;
    const waiting = `waiting for \`${command}\` (process ${child.pid}) to end. At ${limits.endMs / 1000} s, it gets SIGKILL`;
    timers.push(
      setTimeout(() => notify(waiting), limits.noticeMs),
      setTimeout(() => child.kill('SIGKILL'), limits.endMs),
    );
  };
  const stopForwarding = forwardSignals(end);
  void asked.then(() => end('SIGTERM'));
  try {
    return await new Promise<CommandEnd>((resolve) => {
      child.once('error', (error) => resolve(notStarted(command, error)));
      // Not `close`: what the command leaves running keeps its output open.
      child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 1 } : { signal }));
    });
  } finally {
    stopForwarding();
    hasEnded = true;
    for (const timer of timers) clearTimeout(timer);
  }
}

export function commandEnvironment(
  own: NodeJS.ProcessEnv,
  { url, program }: { url: string; program: string },
): NodeJS.ProcessEnv {
  const environment = { ...own };
  for (const name of NOT_FOR_COMMANDS) delete environment[name];
  for (const name of PROGRAM_VARIABLES) environment[name] = program;
  environment[ENDPOINT_VARIABLE] = url;
  return environment;
}

/** Replaces `{endpoint}`, `{port}` and `{program}`. */
export function withPlaces(word: string, values: Readonly<Record<string, string>>): string {
  return word.replaceAll(/\{(endpoint|port|program)\}/g, (_, name: string) => values[name] ?? '');
}

function notStarted(command: string, error: unknown): CommandEnd {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const reason = isMissing ? 'there is no such command' : errorMessage(error);
  void process.stderr.write(`poolwright: \`${command}\` could not be started: ${reason}\n`);
  return { code: isMissing ? NOT_FOUND : NOT_EXECUTABLE };
}

/** While the command runs, this process waits for it. A terminal sends Ctrl-C to both. */
function forwardSignals(forward: (signal: NodeJS.Signals) => void): () => void {
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const isOfTerminal = signal === 'SIGINT' && process.stdin.isTTY;
    const listener = () => void (isOfTerminal || forward(signal));
    process.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}

/** The exit code of a shell for such an end. */
export function exitCodeOf(end: CommandEnd): number {
  return 'code' in end ? end.code : 128 + os.signals[end.signal];
}
