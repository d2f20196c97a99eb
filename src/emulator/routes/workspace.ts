import {
  accountBalance,
  accountBilling,
  dedicatedIpList,
  deleteProfileRequest,
  deleteProfileResponse,
  profileList,
} from '../../service/schemas/workspace.ts';
import { createRouter, jsonResponse, route } from '../http.ts';

const getBalance = route('get', '/balance', {
  operationId: 'getBalance',
  summary: 'Account balance',
  responses: { 200: jsonResponse(accountBalance, 'The balance') },
});

const getBilling = route('get', '/billing', {
  operationId: 'getBilling',
  summary: 'Billing and plan',
  responses: { 200: jsonResponse(accountBilling, 'Plan and use') },
});

/** `/v1/account`. The fields beside `balance_cents` and `plan.concurrent_browsers` are the emulator's own. */
export function accountRoutes() {
  return createRouter()
    .openapi(getBalance, (c) => c.json({ balance_cents: c.var.workspace.balanceCents }, 200))
    .openapi(getBilling, (c) => {
      const { workspace } = c.var;
      const { browserMs, bandwidthBytes, millicents } = workspace.usage;
      return c.json(
        {
          plan: { name: 'emulator', concurrent_browsers: workspace.concurrentBrowsers },
          subscription_period_start: Date.parse(workspace.openedAt),
          balance_cents: workspace.balanceCents,
          usage: {
            browser_time_ms: browserMs,
            bandwidth_mb: bandwidthBytes / 1_000_000,
            cost_millicents: millicents,
          },
        },
        200,
      );
    });
}

const listIps = route('get', '/ips', {
  operationId: 'listIps',
  summary: 'List dedicated IPs',
  responses: { 200: jsonResponse(dedicatedIpList, "The workspace's dedicated IPs") },
});

/** `/v1/network` (sections 2.6 and 4.8 of the service document, which leave the fields to us). */
export function networkRoutes() {
  return createRouter().openapi(listIps, (c) => {
    // Its SOCKS URL has a password in it: that is the service's own affair.
    const ips = c.var.workspace.dedicatedIps.map(({ proxyUrl: _secret, ...shown }) => shown);
    return c.json({ ips }, 200);
  });
}

const listProfiles = route('get', '/profiles', {
  operationId: 'listProfiles',
  summary: 'List profiles',
  responses: { 200: jsonResponse(profileList, 'The saved profiles') },
  errors: [500],
});

const deleteProfile = route('delete', '/profile', {
  operationId: 'deleteProfile',
  summary: 'Delete a profile',
  request: { query: deleteProfileRequest },
  responses: { 200: jsonResponse(deleteProfileResponse, 'Deleted, or never there') },
  errors: [400],
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
