import { clearInterval, setInterval } from '../../common/clock.ts';

/** Warns about a script that forgets `release()`: it does not exit, and its browser costs money. */

/** How long a lease must be unused before the warning, in ms. */
const QUIET_MS = 10_000;
/** Resource types of stdin, stdout and stderr, which every process has. */
const STANDARD_STREAMS = new Set(['PipeWrap', 'TTYWrap']);

/** Resource types of the connections to the broker and to the browser. */
const CONNECTIONS = new Set(['PipeWrap', 'TCPSocketWrap']);

/** What keeps this process alive, with Node's type names. */
export type ActiveResources = ReadonlyMap<string, number>;

/** The resources active now. */
export function activeResources(): ActiveResources {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** The resources that each unreleased lease keeps open. */
const held = new Set<ActiveResources>();

/**
 * Watches one lease. Calls `onForgotten` once, when no command was sent for 10 s and only leases keep this process
 * alive. A script that waits for a page usually has a timer, so it gets no warning.
 * @param before the resources active before the lease
 * @param commands returns how many commands were sent to the browser
 * @returns a function to call when the lease ends
 */
export function watchLease(before: ActiveResources, commands: () => number, onForgotten: () => void): () => void {
  const opened = difference(activeResources(), before);
  // Timers that started meanwhile do not belong to the lease.
  const own = new Map([...opened].filter(([type]) => CONNECTIONS.has(type)));
  held.add(own);
  let seen = commands();
  const timer = setInterval(() => {
    const sent = commands();
    const isQuiet = sent === seen;
    seen = sent;
    if (!isQuiet || !isOtherwiseIdle()) return;
    clearInterval(timer);
    onForgotten();
  }, QUIET_MS).unref();
  return () => {
    clearInterval(timer);
    held.delete(own);
  };
}

function isOtherwiseIdle(): boolean {
  let others = activeResources();
  for (const own of held) others = difference(others, own);
  return [...others].every(([type]) => STANDARD_STREAMS.has(type)) && !readsInput();
}

function difference(counts: ActiveResources, less: ActiveResources): ActiveResources {
  return new Map(
    [...counts].map(([type, count]) => [type, count - (less.get(type) ?? 0)] as const).filter(([, n]) => n > 0),
  );
}

/** A process that reads standard input waits for more. */
function readsInput(): boolean {
  return process.stdin.listenerCount('data') + process.stdin.listenerCount('readable') > 0;
}
