import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { errorMessage } from '../../common/error-message.ts';
import { defaultExport, importFile } from '../../common/import-module.ts';
import { OptionsError } from '../../errors.ts';
import { redactText } from '../../redact.ts';
import { OPTIONAL, type Provider } from '../provider.ts';

const NEEDED = ['acquire', 'release'] as const;

/**
 * Loads the file that the option `provider` names, and checks what it exports.
 * @throws OptionsError: no such file, one that cannot be loaded, or without a provider as its default export
 */
export async function loadProvider(file: string): Promise<Provider> {
  if (!existsSync(file)) throw wrong(`${file} does not exist`);
  const name = basename(file);
  const loaded = await importFile(file).catch((error) => {
    throw wrong(`${name} could not be loaded: ${redactText(errorMessage(error))}`);
  });
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

export function wrong(problem: string): OptionsError {
  return new OptionsError('provider', `\`provider\` (POOLWRIGHT_PROVIDER): ${problem}.`);
}
