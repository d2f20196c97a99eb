import { createRoute } from '@hono/zod-openapi';
import { accountBalance, accountBilling } from '../../service/schemas/account.ts';
import { createRouter, errorResponses, jsonResponse, security } from '../http.ts';

const getBalance = createRoute({
  operationId: 'getBalance',
  method: 'get',
  path: '/balance',
  summary: 'Account balance',
  security,
  responses: { 200: jsonResponse(accountBalance, 'The balance'), ...errorResponses(401) },
});

const getBilling = createRoute({
  operationId: 'getBilling',
  method: 'get',
  path: '/billing',
  summary: 'Billing and plan',
  security,
  responses: { 200: jsonResponse(accountBilling, 'Plan and use'), ...errorResponses(401) },
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
