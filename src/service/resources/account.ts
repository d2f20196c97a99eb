import type { CallOptions } from '../http/client-options.ts';
import type { ServiceCore } from '../http/core.ts';
import { type AccountBalance, type AccountBilling, accountBalance, accountBilling } from '../schemas/index.ts';

/** Balance and billing (sections 2.6 and 4.8 of the service document). */

export async function getBalance(core: ServiceCore, options: CallOptions): Promise<AccountBalance> {
  const call = { method: 'GET', path: '/v1/account/balance', schema: accountBalance, repeat: 'always' } as const;
  return (await core.request(call, options)).data;
}

export async function getBilling(core: ServiceCore, options: CallOptions): Promise<AccountBilling> {
  const call = { method: 'GET', path: '/v1/account/billing', schema: accountBilling, repeat: 'always' } as const;
  return (await core.request(call, options)).data;
}
