import { basename } from 'node:path';
import { got } from '../common/text/shown-fields.ts';
import { parsedUrl } from '../common/url/parsed-url.ts';
import { OptionsError } from '../errors.ts';
import { DEFAULTS, type ServiceName } from './defaults.ts';
import { type Environment, inContinuousIntegration, serviceVariable, variable } from './environment.ts';
import type { HostedOptions } from './schema/schema.ts';

/** A browser that runs already. */
export interface FixedBrowser {
  /** `ws://` or `wss://` of the browser itself, or `http://`, `https://` of its `/json/version`. A secret. */
  url: string;
  /** How many connections it takes at the same time. */
  max: number;
}

/** Which service a run talks to. */
export type ServiceChoice =
  | { kind: 'hosted'; baseURL: string; apiKey: string }
  /** Browsers that run already. */
  | { kind: 'browsers'; browsers: FixedBrowser[] }
  /** Browsers of a provider. `isOption`: whether the option names its file, which is relative to the config then. */
  | { kind: 'provider'; file: string; isOption: boolean }
  /** `chosenBy`: why it is the emulator, for the line that the run begins with. */
  | { kind: 'emulator'; chosenBy: 'option' | 'variable' | 'no-key' };

function missing(name: 'POOLWRIGHT_API_KEY' | 'POOLWRIGHT_BASE_URL', option: string, why: string): OptionsError {
  return new OptionsError(
    name,
    `${name} is not set, and ${why}. Set the variable, pass \`${option}\`, or choose \`service: 'emulator'\` (or POOLWRIGHT_SERVICE=emulator) to run on browsers of this machine.`,
    'ENVIRONMENT_MISSING',
  );
}

/**
 * What the option `service` names, else `POOLWRIGHT_SERVICE`, else the default. @throws OptionsError for a bad variable
 */
export function serviceName({ service }: Pick<HostedOptions, 'service'>, environment: Environment): ServiceName {
  return service ?? serviceVariable(environment) ?? DEFAULTS.service;
}

/**
 * Decides between the hosted service, the emulator and the user's own browsers (options `service`, `browsers` and
 * `provider`).
 * @throws OptionsError when the hosted service is meant and its address or key is missing; for `'local'`, which has no
 * browser to lease
 */
export function resolveService(options: HostedOptions, environment: Environment): ServiceChoice {
  const service = serviceName(options, environment);
  const chosenBy = options.service === undefined ? 'variable' : 'option';
  if (service === 'emulator') return { kind: 'emulator', chosenBy };
  if (service === 'local') throw noLocalLease(chosenBy);

  const browsers = service === 'auto' ? ownBrowsers(options, environment) : null;
  if (browsers) return browsers;

  const apiKey = options.apiKey ?? variable(environment, 'POOLWRIGHT_API_KEY');
  if (!apiKey && service === 'auto') {
    if (!inContinuousIntegration(environment)) return { kind: 'emulator', chosenBy: 'no-key' };
    throw missing('POOLWRIGHT_API_KEY', 'apiKey', 'in CI no emulator is started unasked');
  }
  return hostedService(options, environment);
}

function noLocalLease(chosenBy: 'option' | 'variable'): OptionsError {
  const [field, chosen, instead] =
    chosenBy === 'option'
      ? ['service', "`service: 'local'`", "`service: 'emulator'`"]
      : ['POOLWRIGHT_SERVICE', 'POOLWRIGHT_SERVICE=local', 'POOLWRIGHT_SERVICE=emulator'];
  return new OptionsError(
    field,
    `${chosen} leaves Playwright Test to its own browsers, and here there is none to lease. Choose ${instead} to run on browsers of this machine, or launch one yourself: \`chromium.launch()\`, \`puppeteer.launch()\`.`,
  );
}

/**
 * The hosted service that options and environment name.
 * @throws OptionsError when its address or key is missing.
 */
export function hostedService(
  options: Pick<HostedOptions, 'baseURL' | 'apiKey'>,
  environment: Environment,
): Extract<ServiceChoice, { kind: 'hosted' }> {
  const apiKey = options.apiKey ?? variable(environment, 'POOLWRIGHT_API_KEY');
  const baseURL = options.baseURL ?? variable(environment, 'POOLWRIGHT_BASE_URL');
  if (!apiKey) throw missing('POOLWRIGHT_API_KEY', 'apiKey', 'the hosted service is asked for');
  if (!baseURL) throw missing('POOLWRIGHT_BASE_URL', 'baseURL', 'the key needs a base URL');
  if (!/^https?:\/\//i.test(baseURL) || !parsedUrl(baseURL)) {
    throw new OptionsError(
      'POOLWRIGHT_BASE_URL',
      `\`baseURL\` must be an http:// or https:// address${got('baseURL', baseURL)}.`,
    );
  }
  return { kind: 'hosted', baseURL: baseURL.replace(/\/+$/, ''), apiKey };
}

/**
 * The user's own browsers: those that the options name, else those of the environment; null: none.
 * @throws OptionsError for a wrong address; for both kinds
 */
export function ownBrowsers(
  { browsers, provider }: Pick<HostedOptions, 'browsers' | 'provider'>,
  environment: Environment,
): Extract<ServiceChoice, { kind: 'browsers' | 'provider' }> | null {
  if (browsers && provider !== undefined) throw both('provider', 'browsers');
  if (browsers) return { kind: 'browsers', browsers: fixedBrowsers(browsers, (index) => `browsers[${index}]`) };
  if (provider !== undefined) return { kind: 'provider', file: provider, isOption: true };
  const addresses = variable(environment, 'POOLWRIGHT_CDP_URL');
  const file = variable(environment, 'POOLWRIGHT_PROVIDER');
  if (addresses && file) throw both('POOLWRIGHT_PROVIDER', 'POOLWRIGHT_CDP_URL');
  if (file) return { kind: 'provider', file, isOption: false };
  return addresses
    ? { kind: 'browsers', browsers: fixedBrowsers(addresses.split(','), () => 'POOLWRIGHT_CDP_URL') }
    : null;
}

function both(field: string, other: string): OptionsError {
  return new OptionsError(
    field,
    `\`${field}\` and \`${other}\` each name the browsers of the run: set only one of them.`,
  );
}

function fixedBrowsers(
  given: NonNullable<HostedOptions['browsers']>,
  fieldOf: (index: number) => string,
): FixedBrowser[] {
  return given.map((each, index) => {
    const { url, max = 1 } = typeof each === 'string' ? { url: each.trim() } : each;
    const field = fieldOf(index);
    if (!/^(http|ws)s?:\/\//i.test(url) || !parsedUrl(url)) {
      throw new OptionsError(
        field,
        `${field} must be the address of a browser, such as http://localhost:9222 or ws://localhost:9222/devtools/browser/…${got('browsers', url)}.`,
      );
    }
    return { url, max };
  });
}

/** Whose browsers a run or a script uses: the line that it begins with. */
export function greeting(service: ServiceChoice): string {
  if (service.kind === 'hosted') return `hosted browsers of ${new URL(service.baseURL).host}`;
  if (service.kind === 'browsers') {
    const hosts = service.browsers.map(({ url }) => new URL(url).host);
    return `browsers that run at ${hosts.slice(0, 3).join(', ')}${hosts.length > 3 ? ` and ${hosts.length - 3} more` : ''}`;
  }
  if (service.kind === 'provider') return `browsers of ${basename(service.file)}`;
  const why = {
    option: "`service: 'emulator'`",
    variable: 'POOLWRIGHT_SERVICE=emulator',
    'no-key': 'no POOLWRIGHT_API_KEY is set',
  }[service.chosenBy];
  return `browsers on this machine, through the emulator (${why})`;
}
