import { createRoute } from '@hono/zod-openapi';
import { dedicatedIpList } from '../../service/schemas/network.ts';
import { createRouter, errorResponses, jsonResponse, security } from '../http.ts';

const listIps = createRoute({
  operationId: 'listIps',
  method: 'get',
  path: '/ips',
  summary: 'List dedicated IPs',
  security,
  responses: { 200: jsonResponse(dedicatedIpList, "The workspace's dedicated IPs"), ...errorResponses(401) },
});

/** `/v1/network` (sections 2.6 and 4.8 of the service document, which leave the fields to us). */
export function networkRoutes() {
  return createRouter().openapi(listIps, (c) => {
    // Its SOCKS URL has a password in it: that is the service's own affair.
    const ips = c.var.workspace.dedicatedIps.map(({ proxyUrl: _secret, ...shown }) => shown);
    return c.json({ ips }, 200);
  });
}
