import { OptionsError } from '../../errors.ts';
import type { HostedOptions } from '../../options/schema/schema.ts';

/**
 * Rejects `ahead: true`, which would have no effect: latency is hidden for Playwright only. The default is ignored.
 * @param where where the option is set, for the error
 * @throws OptionsError for an explicit `ahead: true`
 */
export function assertNothingAhead({ ahead }: Pick<HostedOptions, 'ahead'>, where: string): void {
  if (ahead !== true) return;
  throw new OptionsError(
    'ahead',
    `\`ahead: true\` in ${where} has no effect: it works with Playwright only, not with Puppeteer. Remove it.`,
  );
}
