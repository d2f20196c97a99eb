import type { Command } from 'commander';

/** Each command is loaded on demand, with its client or emulator. */
export const COMMANDS: Record<string, () => Promise<(program: Command) => void>> = {
  account: async () => (await import('./commands/account.ts')).addAccountCommand,
  doctor: async () => (await import('./doctor/index.ts')).addDoctorCommand,
  emulator: async () => (await import('./commands/emulator.ts')).addEmulatorCommand,
  extensions: async () => (await import('./commands/extensions.ts')).addExtensionsCommand,
  init: async () => (await import('./commands/init.ts')).addInitCommand,
  ips: async () => (await import('./commands/ips.ts')).addIpsCommand,
  pools: async () => (await import('./commands/pools/pools.ts')).addPoolsCommand,
  profiles: async () => (await import('./commands/profiles.ts')).addProfilesCommand,
  relay: async () => (await import('./commands/relay.ts')).addRelayCommand,
  report: async () => (await import('./commands/report.ts')).addReportCommand,
  sessions: async () => (await import('./commands/sessions.ts')).addSessionsCommand,
  sweep: async () => (await import('./commands/sweep.ts')).addSweepCommand,
  watch: async () => (await import('./commands/watch.ts')).addWatchCommand,
  // Last: it suggests those above.
  completion: async () => (await import('./commands/completion.ts')).addCompletionCommand,
};
