import * as z from 'zod';
import type { CallOptions } from '../http/client-options.ts';
import type { ServiceCore } from '../http/core.ts';
import {
  type AccountBalance,
  type AccountBilling,
  accountBalance,
  accountBilling,
  type DedicatedIp,
  dedicatedIpList,
} from '../schemas/index.ts';

/**
 * What a workspace can only look at: balance, billing, dedicated IPs, the service's description (sections 2.6, 4.8, 9).
 */

const description = z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) });

/** What the service says of itself: an OpenAPI document. Nothing below its first level is checked. */
export type ApiDescription = z.output<typeof description>;

export async function getBalance(core: ServiceCore, options: CallOptions): Promise<AccountBalance> {
  return await read(core, '/v1/account/balance', accountBalance, options);
}

export async function getBilling(core: ServiceCore, options: CallOptions): Promise<AccountBilling> {
  return await read(core, '/v1/account/billing', accountBilling, options);
}

export async function listDedicatedIps(core: ServiceCore, options: CallOptions): Promise<DedicatedIp[]> {
  return (await read(core, '/v1/network/ips', dedicatedIpList, options)).ips;
}

export async function getDescription(core: ServiceCore, options: CallOptions): Promise<ApiDescription> {
  return await read(core, '/doc', description, options);
}

async function read<S extends z.ZodType>(core: ServiceCore, path: string, schema: S, options: CallOptions) {
  return (await core.request({ method: 'GET', path, schema, repeat: 'always' }, options)).data;
}
