import type { CallOptions } from '../http/client-options.ts';
import type { Call, ServiceCore } from '../http/core.ts';
import { deleteProfileRequest, deleteProfileResponse, type Profile, profileList } from '../schemas/index.ts';

/** Saved profiles (sections 2.4, 4.6 and 4.8 of the service document). */

const PROFILES = '/v1/browser/profiles';
const PROFILE = '/v1/browser/profile';

export async function listProfiles(core: ServiceCore, options: CallOptions): Promise<Profile[]> {
  const call = { method: 'GET', path: PROFILES, schema: profileList, repeat: 'always' } as const;
  return (await core.request(call, options)).data.profiles;
}

export async function deleteProfile(core: ServiceCore, profileName: string, options: CallOptions): Promise<void> {
  const query = core.check(deleteProfileRequest, { profileName }, `DELETE ${PROFILE}`);
  const call: Call<typeof deleteProfileResponse> = {
    method: 'DELETE',
    path: PROFILE,
    query,
    schema: deleteProfileResponse,
    subject: `profile ${JSON.stringify(profileName)}`,
    repeat: 'always',
  };
  const { status, data } = await core.request(call, options);
  if (data.success === false)
    throw core.badResponse(call, status, '`success` is false: the profile may still be there');
}
