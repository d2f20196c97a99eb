import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { errorMessage } from '../common/error-message.ts';
import { importFile } from '../common/import-module.ts';
import { within } from '../common/pause.ts';
import { OptionsError } from '../errors.ts';
import type { FixedBrowser } from '../options/resolve-service.ts';
import { redactText } from '../redact.ts';
import { FixedBrowsers } from './fixed-browsers.ts';
import { ProvidedSessions } from './provided-sessions.ts';
import { OPTIONAL, type Provider } from './provider.ts';

/** The user's own browsers: addresses, or the absolute path of a provider. */
export type OwnBrowsers = { kind: 'browsers'; browsers: FixedBrowser[] } | { kind: 'provider'; file: string };

/**
 * Opens what provides the user's own browsers.
 * @param onNote takes lines for the user
 * @param beatClock dates signs of life, in ms since the epoch: a clock that those who judge them share
 * @throws OptionsError for a file without a provider
 */
export async function openProvider(
  own: OwnBrowsers,
  onNote: (text: string) => void,
  beatClock?: () => number,
): Promise<ProvidedSessions> {
  if (own.kind === 'browsers') return new ProvidedSessions(new FixedBrowsers(own.browsers, onNote));
  return new ProvidedSessions(await loadProvider(own.file), basename(own.file), beatClock);
}

/** Time limit for loading a provider's file, in ms. */
const LOAD_MS = 30_000;

const NEEDED = ['acquire', 'release'] as const;

/**
 * Loads the file that the option `provider` names, and checks what it exports.
 * @throws OptionsError: no such file, one that cannot be loaded in time, or without a provider as its default export
 */
export async function loadProvider(file: string): Promise<Provider> {
  if (!existsSync(file)) throw wrong(`${file} does not exist`);
  const name = basename(file);
  const loaded = await within(importFile(file), LOAD_MS, null).catch((error) => {
    throw wrong(`${name} could not be loaded: ${redactText(errorMessage(error))}`);
  });
  if (loaded === null) throw wrong(`${name} did not load within ${LOAD_MS / 1000} s`);
  const provider = defaultExport(loaded);
  if (!isProvider(provider)) throw wrong(`${name} must have \`export default defineProvider({ acquire, release })\``);
  const missing = NEEDED.find((call) => typeof provider[call] !== 'function');
  if (missing) throw wrong(`the provider of ${name} lacks the function \`${missing}\``);
  const odd = OPTIONAL.find((call) => provider[call] !== undefined && typeof provider[call] !== 'function');
  if (odd) throw wrong(`\`${odd}\` in the provider of ${name} must be a function`);
  return provider;
}

/** Whether it is meant to be one: it has one of its functions. */
function isProvider(value: unknown): value is Provider {
  return typeof value === 'object' && value !== null && [...NEEDED, ...OPTIONAL].some((call) => call in value);
}

function defaultExport(loaded: unknown): unknown {
  let value = loaded;
  // `import()` of a CommonJS file compiled from TypeScript nests `default` in `default`.
  while (typeof value === 'object' && value !== null && 'default' in value) value = value.default;
  return value;
}

function wrong(problem: string): OptionsError {
  return new OptionsError('provider', `\`provider\` (POOLWRIGHT_PROVIDER): ${problem}.`);
}
