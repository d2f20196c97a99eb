import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserType } from '@playwright/test';

/** Browsers that tests, fixtures and global setups start themselves: they stay on this machine. */

const CALLS = ['launch', 'launchPersistentContext', 'launchServer'] as const;
const LISTENER = Symbol.for('poolwright.launches');
const CALLER = /\(?((?:file:|[/\\]|[A-Z]:)[^()\n]*):(\d+):\d+\)?$/m;

type Listener = (call: string) => void;

/**
 * Calls the listener with each call that starts a browser, such as `chromium.launch() at fixtures.ts:12`, and its place
 * relative to the working directory. Another listener replaces it.
 */
export function watchLaunches(chromium: BrowserType, listener: Listener): void {
  const watched = chromium as BrowserType & { [LISTENER]?: Listener };
  const isWatched = LISTENER in watched;
  watched[LISTENER] = listener;
  if (isWatched) return;
  for (const name of CALLS) {
    const original = watched[name] as (...args: unknown[]) => unknown;
    const starts = (...args: unknown[]) => {
      watched[LISTENER]?.(`chromium.${name}()${callerOf(starts)}`);
      return original.apply(watched, args);
    };
    Object.defineProperty(watched, name, { value: starts, configurable: true, writable: true });
  }
}

/** ` at a.spec.ts:12`; empty if it is unknown. */
function callerOf(called: (...args: never[]) => unknown): string {
  const trace = { stack: '' };
  Error.captureStackTrace(trace, called);
  const [, place, line] = CALLER.exec(trace.stack) ?? [];
  if (place === undefined) return '';
  return ` at ${relative('', place.startsWith('file:') ? fileURLToPath(place) : place).replaceAll('\\', '/')}:${line}`;
}
