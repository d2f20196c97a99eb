import { resolve } from 'node:path';
import { OptionsError } from '../errors.ts';
import { variable } from '../options/environment.ts';
import { hostedService, ownBrowsers, serviceName } from '../options/resolve-service.ts';
import type { OwnBrowsers } from '../providers/open-provider.ts';
import { ServiceClient } from '../service/index.ts';

const VARIABLES = ['POOLWRIGHT_BASE_URL', 'POOLWRIGHT_API_KEY'] as const;

/** The service that the environment names. @throws OptionsError `ENVIRONMENT_MISSING` with what to export */
export function serviceOfShell(): ReturnType<typeof hostedService> {
  const missing = VARIABLES.filter((name) => variable(process.env, name) === undefined);
  const [first] = missing;
  if (first === undefined) return hostedService({}, process.env);
  const exports = missing.map((name) => `${name}=${name === 'POOLWRIGHT_BASE_URL' ? 'https://…' : '…'}`).join(' ');
  const are = missing.length > 1 ? 'are' : 'is';
  throw new OptionsError(first, `${missing.join(' and ')} ${are} not set: export ${exports}`, 'ENVIRONMENT_MISSING');
}

/** The user's own browsers that the environment names; null: it names a service. @throws OptionsError */
export function ownBrowsersOfShell(): OwnBrowsers | null {
  const browsers = serviceName({}, process.env) === 'auto' ? ownBrowsers({}, process.env) : null;
  return browsers?.kind === 'provider' ? { ...browsers, file: resolve(browsers.file) } : browsers;
}

/**
 * Runs `work` with a client of a service, and closes it.
 * @param service default: the one that the environment names
 * @throws OptionsError `ENVIRONMENT_MISSING` without POOLWRIGHT_BASE_URL or POOLWRIGHT_API_KEY
 */
export async function withClient<T>(
  work: (client: ServiceClient) => Promise<T>,
  { baseURL, apiKey }: { baseURL: string; apiKey: string } = serviceOfShell(),
): Promise<T> {
  const client = new ServiceClient({ baseURL, apiKey });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
