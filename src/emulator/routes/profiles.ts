import { createRoute } from '@hono/zod-openapi';
import { deleteProfileRequest, deleteProfileResponse, profileList } from '../../service/schemas/profile.ts';
import { createRouter, errorResponses, jsonResponse, security } from '../http.ts';

const listProfiles = createRoute({
  operationId: 'listProfiles',
  method: 'get',
  path: '/profiles',
  summary: 'List profiles',
  security,
  responses: { 200: jsonResponse(profileList, 'The saved profiles'), ...errorResponses(401, 500) },
});

const deleteProfile = createRoute({
  operationId: 'deleteProfile',
  method: 'delete',
  path: '/profile',
  summary: 'Delete a profile',
  security,
  request: { query: deleteProfileRequest },
  responses: { 200: jsonResponse(deleteProfileResponse, 'Deleted, or never there'), ...errorResponses(400, 401) },
});

/** `/v1/browser/profiles` and `/v1/browser/profile` (sections 2.4, 4.6 and 4.8 of the service document). */
export function profileRoutes() {
  return createRouter()
    .openapi(listProfiles, (c) => c.json({ profiles: c.var.workspace.stores.profiles.all }, 200))
    .openapi(deleteProfile, async (c) => {
      await c.var.workspace.stores.profiles.delete(c.req.valid('query').profileName);
      return c.json({ success: true }, 200);
    });
}
