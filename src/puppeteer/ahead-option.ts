import { OptionsError } from '../errors.ts';
import type { HostedOptions } from '../options/schema/schema.ts';

/**
 * Refuses what would be ignored: round trips are hidden for Playwright only. The default, which is on, means nothing here.
 * @param where the option stands, for the error
 * @throws OptionsError for an explicit `ahead: true`
 */
export function assertNothingAhead({ ahead }: Pick<HostedOptions, 'ahead'>, where: string): void {
  if (ahead !== true) return;
  throw new OptionsError(
    'ahead',
    `\`ahead: true\` in ${where}: round trips are hidden for Playwright only, not for Puppeteer. Leave it out.`,
  );
}
