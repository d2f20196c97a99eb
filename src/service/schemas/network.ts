import * as z from 'zod';

/** Dedicated IPs: section 2.6 of the service document, which shows none of a record's fields. Unknown fields pass. */

/** A dedicated IP as the service returns it. */
export const dedicatedIp = z.looseObject({
  ip: z.string().nullish().describe('The address, as `dedicated://<ip>` names it.'),
  country: z.string().nullish(),
});

/** Response to `GET /v1/network/ips`. */
export const dedicatedIpList = z.looseObject({ ips: z.array(dedicatedIp) });

/** A dedicated IP of the workspace. None of its fields is promised. */
export type DedicatedIp = z.output<typeof dedicatedIp>;
