import * as z from 'zod';

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
