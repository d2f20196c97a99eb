import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { redactText } from '../../redact.ts';
import type { Terminal } from './terminal.ts';

/** The broker's log: a file in the output folder, the terminal for what the user should see. Never a secret. */
export interface Log {
  /** For the file, and for the terminal under `DEBUG=poolwright:*`. */
  info(message: string): void;
  /** For the terminal as well. */
  notice(message: string): void;
  /** The same, for what several workers find: once a run. */
  once(message: string): void;
  /** For the terminal as well, unless its user sees the run's state anyway. */
  momentary(message: string): void;
  /** For the terminal as well, with the cause's message. */
  error(message: string, cause?: unknown): void;
}

/** What a log needs to know. */
export interface LogOptions {
  /** Appended to; null: none. */
  file: string | null;
  terminal: Terminal;
  secrets: readonly string[];
  /** Whether the terminal gets everything. */
  debug: boolean;
}

/** A log in a file and on the terminal. */
export function createLog({ file, terminal, secrets, debug }: LogOptions): Log {
  if (file) mkdirSync(dirname(file), { recursive: true });

  const write = (level: string, message: string, toTerminal: boolean) => {
    const line = redactText(message, secrets);
    if (toTerminal) terminal.write(line);
    if (!file) return;
    try {
      appendFileSync(file, `${new Date().toISOString()} ${level} ${line}\n`);
    } catch {
      // The output folder may be gone (a run that cleans it); the run goes on without a log.
    }
  };
  const said = new Set<string>();
  const notice = (message: string) => write('notice', message, true);
  return {
    info: (message) => write('info', message, debug),
    notice,
    once: (message) => {
      if (said.has(message)) return;
      said.add(message);
      notice(message);
    },
    momentary: (message) => write('notice', message, !terminal.isWatched),
    error: (message, cause) => {
      const reason = cause instanceof Error ? `: ${cause.message}` : '';
      write('error', `${message}${reason}`, true);
    },
  };
}
