import { parsedUrl } from '../common/url/parsed-url.ts';
import { OptionsError } from '../errors.ts';
import { redactAddress } from '../redact.ts';
import { type Environment, variable } from './environment.ts';
import type { HostedOptions } from './schema/schema.ts';

/** A browser that runs already. */
export interface FixedBrowser {
  /** `ws://` or `wss://` of the browser itself, or `http://`, `https://` of its `/json/version`. A secret. */
  url: string;
  /** How many connections it takes at the same time. */
  max: number;
}

/**
 * The browsers that the option `browsers`, else `POOLWRIGHT_CDP_URL`, names; null: none.
 * @throws OptionsError for a wrong address
 */
export function fixedBrowsers({ browsers }: HostedOptions, environment: Environment): FixedBrowser[] | null {
  const named = variable(environment, 'POOLWRIGHT_CDP_URL')?.split(',');
  if (!browsers && !named) return null;
  const given = browsers ?? named ?? [];
  return given.map((each, index) => {
    const { url, max = 1 } = typeof each === 'string' ? { url: each.trim() } : each;
    const field = browsers ? `browsers[${index}]` : 'POOLWRIGHT_CDP_URL';
    if (!/^(http|ws)s?:\/\//i.test(url) || !parsedUrl(url)) {
      throw new OptionsError(
        field,
        `${field} must be the address of a browser, such as http://localhost:9222 or ws://localhost:9222/devtools/browser/…, got "${redactAddress(url)}".`,
      );
    }
    return { url, max };
  });
}
