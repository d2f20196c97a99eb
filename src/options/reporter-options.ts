import type { HostedOptions } from './schema/schema.ts';

/** The options that the reporter uses. */
export type ReporterOptions = Pick<HostedOptions, 'budget' | 'shards'>;

/** On `globalThis`: the config and the reporter may be loaded by different module systems. */
const OPTIONS = Symbol.for('poolwright.reporter-options');
const holder = globalThis as { [OPTIONS]?: ReporterOptions };

/** The config's options, for a reporter that the command line names (`--reporter=blob,poolwright/reporter`). */
export function rememberOptions({ budget, shards }: HostedOptions): void {
  holder[OPTIONS] = { ...(budget && { budget }), ...(shards !== undefined && { shards }) };
}

/** Empty without the wrapper. */
export function rememberedOptions(): ReporterOptions {
  return holder[OPTIONS] ?? {};
}
