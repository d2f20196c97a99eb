import type { CallOptions } from '../http/client-options.ts';
import type { ServiceCore } from '../http/core.ts';
import { type DedicatedIp, dedicatedIpList } from '../schemas/index.ts';

/** Dedicated IPs (sections 2.6 and 4.8 of the service document). */
export async function listDedicatedIps(core: ServiceCore, options: CallOptions): Promise<DedicatedIp[]> {
  const call = { method: 'GET', path: '/v1/network/ips', schema: dedicatedIpList, repeat: 'always' } as const;
  return (await core.request(call, options)).data.ips;
}
