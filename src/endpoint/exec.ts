import { spawn } from 'node:child_process';
import { accessSync, chmodSync, constants } from 'node:fs';
import { constants as os } from 'node:os';
import { basename } from 'node:path';
import { BROKER_VARIABLE, sharedBrokerOf } from '../broker/rpc/shared-broker.ts';
import { distFile } from '../common/dist-file.ts';
import { errorMessage } from '../common/error-message.ts';
import { notify } from '../common/text/notify.ts';
import { OptionsError } from '../errors.ts';
import { connectionSettings } from '../options/lease-plan.ts';
import type { HostedOptions } from '../options/schema/schema.ts';
import { optionsFromFile, startRunnerRun } from '../runners/shared/runner-run.ts';
import { PROJECT, SETTINGS_VARIABLE } from '../runners/shared/worker-settings.ts';
import { type Endpoint, startEndpoint } from './endpoint.ts';
import { NEW_BROWSERS } from './own-endpoint.ts';

/** A command, and the browsers that it may use. */
export interface ExecStart {
  /** The command and its arguments. */
  words: readonly string[];
  /** Path of another file than `poolwright.config.*`. */
  config: string | undefined;
  /** They override those of the file. */
  options: HostedOptions;
  /** How many browsers there may be at the same time. */
  max: number | undefined;
}

/** How a command has ended. */
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
  start: ExecStart,
  asked: Promise<unknown> = new Promise(() => undefined),
): Promise<CommandEnd> {
  if (process.platform === 'win32') {
    throw new OptionsError(
      'exec',
      '`poolwright exec` runs on Linux and macOS: Windows cannot start its program in place of a browser.',
    );
  }
  const program = runnable(distFile('browser.js'));
  const root = process.cwd();
  const options = { ...(await optionsFromFile(root, start.config)), ...start.options, ...NEW_BROWSERS };
  const { max } = start;
  const run = await startRunnerRun({ runner: 'exec', root, workers: max ?? 1, shard: null, options });
  try {
    const shared = sharedBrokerOf(process.env);
    if (!shared) throw new OptionsError(BROKER_VARIABLE, 'The broker of this run has ended.');
    const connection = connectionSettings(options, process.env);
    const command = basename(start.words[0] ?? '');
    const endpoint = await startEndpoint({ address: shared, connection, project: PROJECT, root, command }, { max });
    try {
      return await runCommand(start.words, endpoint, program, asked);
    } finally {
      await endpoint.stop();
    }
  } finally {
    await run.finish();
  }
}

/** Runs a command to its end. Exported for its test. */
export async function runCommand(
  words: readonly string[],
  { url }: Pick<Endpoint, 'url'>,
  program: string,
  asked: Promise<unknown>,
  limits = LIMITS,
): Promise<CommandEnd> {
  const [command = '', ...args] = words.map((word) => withPlaces(word, { endpoint: url, program }));
  const env = commandEnvironment(process.env, { url, program });
  const child = spawn(command, args, { stdio: 'inherit', env, windowsHide: true });
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
      child.once('error', (error: NodeJS.ErrnoException) => resolve(notStarted(command, error)));
      // Not `close`: what the command leaves running keeps its output open.
      child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 1 } : { signal }));
    });
  } finally {
    stopForwarding();
    hasEnded = true;
    for (const timer of timers) clearTimeout(timer);
  }
}

/** The environment of the command. */
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

/** Replaces `{endpoint}` and `{program}`. */
export function withPlaces(word: string, values: Readonly<Record<string, string>>): string {
  return word.replaceAll(/\{(endpoint|program)\}/g, (_, name: string) => values[name] ?? '');
}

function notStarted(command: string, error: NodeJS.ErrnoException): CommandEnd {
  const isMissing = error.code === 'ENOENT';
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

/** Package managers make the programs of a package executable; a copy of it may not be. @throws OptionsError */
function runnable(path: string): string {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    try {
      chmodSync(path, 0o755);
    } catch (error) {
      throw new OptionsError('exec', `${path} is not executable: ${errorMessage(error)}.`);
    }
  }
  return path;
}
