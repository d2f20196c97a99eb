/** A script that forgets `release()` does not end, and its browser costs money: it gets a line that says why. */

/** How long a lease goes unused before that, in ms. */
const QUIET_MS = 10_000;
/** Standard input, output and errors, whatever they are connected to: they are there in every process. */
const STANDARD_STREAMS = new Set(['PipeWrap', 'TTYWrap']);

/** The line to the broker and the link to the browser. */
const CONNECTIONS = new Set(['PipeWrap', 'TCPSocketWrap']);

/** What keeps this process alive, by Node's names. */
export type ActiveResources = ReadonlyMap<string, number>;

/** Of this moment. */
export function activeResources(): ActiveResources {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** What each lease that is not released keeps open. */
const held = new Set<ActiveResources>();

/**
 * Follows one lease. When no command was sent for 10 s, and nothing but leases keeps this process alive, `onForgotten`
 * is called, once. A script that waits for its page has a timer in most cases, and is left alone.
 * @param before what was active before the lease
 * @param commands how many commands were sent to its browser
 * @returns to be called at the lease's end
 */
export function watchLease(before: ActiveResources, commands: () => number, onForgotten: () => void): () => void {
  const opened = difference(activeResources(), before);
  // Timers of that moment are no part of it.
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

/** A server on standard input waits for its client. */
function readsInput(): boolean {
  return process.stdin.listenerCount('data') + process.stdin.listenerCount('readable') > 0;
}
