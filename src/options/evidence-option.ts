import { OptionsError } from '../errors.ts';
import type { HostedOptions } from './schema/schema.ts';

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
