import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { OptionsError } from '../../../errors.ts';
import type { CreatePoolRequest, PoolBrowserTemplate, UpdatePoolRequest } from '../../../service/index.ts';

/** What `pools create` and `pools update` take. Bounds are checked by the client. */
export interface PoolFlags {
  name?: string;
  size?: number;
  /** seconds */
  leaseTimeout?: number;
  /** seconds */
  maxReadyAge?: number;
  browser?: string;
  pause?: boolean;
  resume?: boolean;
  wait?: boolean;
}

/** @throws OptionsError for a file of browser settings that cannot be read, or is not a JSON object */
export async function settingsOf(flags: PoolFlags): Promise<Omit<CreatePoolRequest, 'name' | 'size'>> {
  const { leaseTimeout, maxReadyAge, browser } = flags;
  return {
    ...(leaseTimeout !== undefined && { leaseTimeoutSeconds: leaseTimeout }),
    ...(maxReadyAge !== undefined && { maxReadyAgeSeconds: maxReadyAge }),
    ...(browser !== undefined && { browser: await readTemplate(browser) }),
  };
}

/** @throws OptionsError as {@link settingsOf}, and when nothing is to be changed */
export async function changesOf(flags: PoolFlags): Promise<UpdatePoolRequest> {
  const { name, size, pause, resume } = flags;
  const changes: UpdatePoolRequest = {
    ...(name !== undefined && { name }),
    ...(size !== undefined && { size }),
    ...((pause || resume) && { paused: pause === true }),
    ...(await settingsOf(flags)),
  };
  if (Object.keys(changes).length > 0) return changes;
  throw new OptionsError('pools update', 'Nothing to change: name a setting, such as --size 5 (see --help).');
}

/** From a file, not an argument: it may contain a proxy password, and all users of the machine can see arguments. */
async function readTemplate(file: string): Promise<PoolBrowserTemplate> {
  const what = file === '-' ? 'the input on stdin' : file;
  let template: unknown;
  try {
    template = JSON.parse(file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'));
  } catch (error) {
    // The parser's own message quotes the text, which may hold a password.
    const why =
      error instanceof SyntaxError ? 'is not valid JSON' : `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new OptionsError('--browser', `--browser: ${what} ${why}.`);
  }
  if (typeof template !== 'object' || template === null || Array.isArray(template)) {
    throw new OptionsError('--browser', `--browser: ${what} is not a JSON object, such as { "country": "DE" }.`);
  }
  return template;
}
