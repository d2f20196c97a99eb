import { OptionsError } from '../../errors.ts';
import type { HostedOptions } from './schema.ts';

const PLAYWRIGHT_ONLY = ['workers', 'shards'] as const;

/**
 * Rejects `workers` and `shards` where another program decides on them.
 * @param where where the option is set, for the error
 * @throws OptionsError
 */
export function assertNoPlaywrightOptions(
  options: Pick<HostedOptions, (typeof PLAYWRIGHT_ONLY)[number]>,
  where: string,
): void {
  const set = PLAYWRIGHT_ONLY.find((key) => options[key] !== undefined);
  if (set === undefined) return;
  throw new OptionsError(
    set,
    `\`${set}\` in ${where} has no effect: it is only for Playwright Test. Remove it, and use your runner's own setting.`,
  );
}

/**
 * Rejects `evidence: true` where it has no effect: it works only with Puppeteer under a test runner. The default is
 * ignored.
 * @param where where the option is set, for the error
 * @throws OptionsError for an explicit `evidence: true`
 */
export function assertNoEvidence({ evidence }: Pick<HostedOptions, 'evidence'>, where: string): void {
  if (evidence !== true) return;
  throw new OptionsError(
    'evidence',
    `\`evidence: true\` in ${where} has no effect: it works only with Puppeteer under Vitest, Jest, Mocha and node:test. Remove it. Playwright Test has the options \`screenshot\` and \`trace\`.`,
  );
}
