import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { errorMessage } from '../../common/error-message.ts';
import type { EndpointStart } from '../../endpoint/with-endpoint.ts';
import { OptionsError } from '../../errors.ts';
import { parseHostedOptions } from '../../options/schema/parse.ts';
import { integer } from '../numbers.ts';

/** Flags of commands that lease browsers. */
export interface BrowserFlags {
  config?: string;
  pool?: string;
  session?: string;
  exposeNetwork?: string;
  max?: number;
}

export function withBrowserFlags(command: Command): Command {
  return command
    .option('-c, --config <file>', 'options file (default: poolwright.config.* in the working directory)')
    .option('--pool <pool>', 'lease from this pool')
    .option('--session <file>', 'JSON file with the settings of created sessions (type, country, proxyUrl …)')
    .option('--expose-network <rules>', 'which servers of this machine the pages reach (default: auto)')
    .option(
      '--max <number>',
      'how many browsers there may be at the same time (default: as many as the plan allows)',
      integer,
    );
}

/** @throws OptionsError for an invalid flag or file */
export async function browsersOf({ config, max, session, ...rest }: BrowserFlags): Promise<EndpointStart> {
  if (max !== undefined && max < 1) throw new OptionsError('--max', '`--max` must be at least 1.');
  const given = { ...rest, ...(session !== undefined && { session: await readSession(session) }) };
  return { config, max, options: parseHostedOptions(given, 'the flags of this command') };
}

/** From a file: it may contain a proxy's password, and all users of the machine can see arguments. */
async function readSession(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    // The parser's own message quotes the text.
    const why = error instanceof SyntaxError ? 'is not valid JSON' : errorMessage(error);
    throw new OptionsError('--session', `--session: ${file} ${why}.`);
  }
}
