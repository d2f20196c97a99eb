import { hostedService } from '../options/resolve-service.ts';
import { ServiceClient } from '../service/index.ts';

/**
 * Runs `work` with a client of the service that the environment names, and closes it.
 * @throws OptionsError `ENVIRONMENT_MISSING` without POOLWRIGHT_BASE_URL or POOLWRIGHT_API_KEY
 */
export async function withClient<T>(work: (client: ServiceClient) => Promise<T>): Promise<T> {
  const { baseURL, apiKey } = hostedService({}, process.env);
  const client = new ServiceClient({ baseURL, apiKey });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
