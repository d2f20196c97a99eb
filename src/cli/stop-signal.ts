/** The signals that stop a command. Windows delivers no SIGTERM, but Ctrl-Break, and one for a closed terminal. */
export function stopSignals(platform: NodeJS.Platform): NodeJS.Signals[] {
  // Elsewhere a closed terminal ends a process without a handler; with a handler, `nohup` would not work.
  return platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];
}

/** Resolves at the first of {@link stopSignals} that comes at least `after` ms from now. */
export function stopSignal(after = 0): Promise<void> {
  const since = Date.now();
  return new Promise((resolve) => {
    const onSignal = () => Date.now() - since >= after && resolve();
    for (const signal of stopSignals(process.platform)) process.on(signal, onSignal);
  });
}
