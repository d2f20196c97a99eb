import { OptionsError } from '../../errors.ts';
import type { HostedOptions } from './schema.ts';

/**
 * Rejects `workers` where another program decides on their number.
 * @param where where the option is set, for the error
 * @throws OptionsError
 */
export function assertNoWorkers({ workers }: Pick<HostedOptions, 'workers'>, where: string): void {
  if (workers === undefined) return;
  throw new OptionsError(
    'workers',
    `\`workers\` in ${where} has no effect: it is only for Playwright Test. Remove it, and set the number in your runner's own config.`,
  );
}
