import * as z from 'zod';

/** Account records: section 2.6 of the service document, which shows little of them. Unknown fields pass. */

/** Response to `GET /v1/account/balance`. */
export const accountBalance = z.looseObject({
  balance_cents: z.number().describe('What is left, in cents; negative when more was used than was paid.'),
});

/** Response to `GET /v1/account/billing`. */
export const accountBilling = z.looseObject({
  plan: z
    .looseObject({
      concurrent_browsers: z.number().nullish().describe('Browsers that may run at once, starting ones included.'),
    })
    .nullish(),
});

/** What the service says of itself at `/doc` (section 9): an OpenAPI document. */
export const description = z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) });

/** The account's balance, in cents. */
export type AccountBalance = z.infer<typeof accountBalance>;
/** The account's plan, as reported; unknown fields are kept. */
export type AccountBilling = z.infer<typeof accountBilling>;
/** What the service says of itself: an OpenAPI document. Nothing below its first level is checked. */
export type ApiDescription = z.output<typeof description>;

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

/** Profiles: sections 2.4, 4.6 and 4.8 of the service document. */

/** A profile as the service returns it; unknown fields pass. */
export const profile = z.looseObject({
  profileId: z.string().min(1),
  name: z.string(),
  createdAt: z.string().nullish(),
});

/** Response to `GET /v1/browser/profiles`. */
export const profileList = z.looseObject({ profiles: z.array(profile) });

/** Query of `DELETE /v1/browser/profile`. */
export const deleteProfileRequest = z.strictObject({ profileName: z.string({ error: 'is required' }).min(1) });

/** Response to `DELETE /v1/browser/profile`, the same for a profile that is not there. */
export const deleteProfileResponse = z.looseObject({ success: z.boolean().optional() });

/** A saved profile (section 2.4): `createdAt` is ISO 8601. */
export type Profile = z.output<typeof profile>;
