import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserServer, BrowserType, LaunchOptions } from '@playwright/test';

/** Browsers that tests, fixtures and global setups start themselves. */

const CALLS = ['launch', 'launchPersistentContext', 'launchServer'] as const;
const LISTENER = Symbol.for('poolwright.launches');
const CALLER = /\(?((?:file:|[/\\]|[A-Z]:)[^()\n]*):(\d+):\d+\)?$/m;

/** What such a call returns. */
export type Launched = Browser | BrowserContext | BrowserServer;

/** A call that starts a browser. */
export interface Launch {
  /** With its place relative to the working directory: `chromium.launch() at fixtures.ts:12`. */
  call: string;
  options: LaunchOptions;
  /** The options are those of a context, too. */
  isPersistent: boolean;
  /** Starts the browser, with these options in place of the given ones. */
  start(options: LaunchOptions): Promise<Launched>;
}

type Listener = (launch: Launch) => Promise<Launched>;

/** Passes each call that starts a browser to the listener. Another listener replaces it. */
export function interceptLaunches(chromium: BrowserType, listener: Listener): void {
  const watched = chromium as BrowserType & { [LISTENER]?: Listener };
  const isWatched = LISTENER in watched;
  watched[LISTENER] = listener;
  if (isWatched) return;
  for (const name of CALLS) {
    const original = watched[name] as (...args: unknown[]) => Promise<Launched>;
    const starts = (...args: unknown[]) => {
      const isPersistent = name === 'launchPersistentContext';
      const before = isPersistent ? args.slice(0, 1) : [];
      const options = (args[before.length] ?? {}) as LaunchOptions;
      const call = `chromium.${name}()${callerOf(starts)}`;
      const start = (changed: LaunchOptions) => original.call(watched, ...before, changed);
      return watched[LISTENER]?.({ call, options, isPersistent, start });
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
