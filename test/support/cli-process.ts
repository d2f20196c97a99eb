import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CLI } from './run-cli.ts';

export interface CliProcess {
  /** Its first line, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect the raw data
  answer: any;
  /** Its exit code, once it has ended. */
  exit: Promise<number | null>;
  /** Ends it by a signal, like Ctrl-C. */
  stop(): Promise<number | null>;
}

/** Starts `poolwright` of the built package; resolves after its first line (JSON), or when it has ended. */
export async function startCli(args: string[], env: Record<string, string> = {}): Promise<CliProcess> {
  const child = spawn(process.execPath, [CLI, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  const line = once(createInterface({ input: child.stdout }), 'line').then(([text]) => JSON.parse(text));
  const answer = await Promise.race([line, once(child, 'close').then(() => undefined)]);
  return {
    answer,
    exit,
    stop: () => {
      child.kill('SIGINT');
      return exit;
    },
  };
}
