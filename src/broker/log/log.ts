import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { PoolwrightError } from '../../errors.ts';
import { printable } from '../../printable.ts';
import { redactText } from '../../redact.ts';
import type { Terminal } from './terminal.ts';

/**
 * The broker's log: a file in the output directory, plus the terminal for messages to the user. Each message is one
 * line, whatever text of others it contains. Never contains a secret.
 */
export interface Log {
  /** For the file, and for the terminal under `DEBUG=poolwright:*`. */
  info(message: string): void;
  /** Also for the terminal. */
  notice(message: string): void;
  /** Also for the terminal, once per run: several workers may report the same. */
  once(message: string): void;
  /** Also for the terminal, unless a display already shows the run's state. */
  momentary(message: string): void;
  /** Also for the terminal, with the cause's message. */
  error(message: string, cause?: unknown): void;
}

export interface LogOptions {
  /** Appended to; null: no file. */
  file: string | null;
  terminal: Terminal;
  secrets: readonly string[];
  /** Whether the terminal gets everything. */
  debug: boolean;
}

export function createLog({ file, terminal, secrets, debug }: LogOptions): Log {
  if (file) mkdirSync(dirname(file), { recursive: true });

  const write = (level: string, message: string, toTerminal: boolean) => {
    const line = redactText(printable(message), secrets);
    if (toTerminal) terminal.write(line);
    if (!file) return;
    try {
      appendFileSync(file, `${new Date().toISOString()} ${level} ${line}\n`);
    } catch {
      // The output directory may be gone (a run that cleans it); the run continues without a log.
    }
  };
  const logged = new Set<string>();
  const notice = (message: string) => write('notice', message, true);
  return {
    info: (message) => write('info', message, debug),
    notice,
    once: (message) => {
      if (logged.has(message)) return;
      logged.add(message);
      notice(message);
    },
    momentary: (message) => write('notice', message, !terminal.isWatched),
    error: (message, cause) => {
      const code = cause instanceof PoolwrightError ? ` [${cause.code}]` : '';
      const reason = cause instanceof Error ? `: ${cause.message}${code}` : '';
      write('error', `${message}${reason}`, true);
    },
  };
}
