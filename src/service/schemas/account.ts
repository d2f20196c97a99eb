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
