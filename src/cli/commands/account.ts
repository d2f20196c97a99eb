import type { Command } from 'commander';
import { printJson, printRows } from '../print.ts';
import { withClient } from '../with-client.ts';

/** `poolwright account`: the balance, the costs so far, and the limit on browsers. */
export function addAccountCommand(program: Command): void {
  program
    .command('account')
    .description("Show the account's balance, plan and billing (POOLWRIGHT_BASE_URL, POOLWRIGHT_API_KEY)")
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const account = await withClient(async (client) => {
        const [balance, billing] = await Promise.all([client.getBalance(), client.getBilling()]);
        return { balance, billing };
      });
      if (json) printJson(account);
      else printRows(rows({ ...account.billing, ...account.balance }), ['field', 'value'], false);
    });
}

/** Shows every field that the service returns, by its path, because few fields are documented. */
function rows(value: object, above: readonly string[] = []): { field: string; value: string }[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...above, key];
    if (typeof inner === 'object' && inner !== null) return rows(inner, path);
    return [{ field: path.join('.'), value: readable(key, inner) }];
  });
}

/** Money and times in units that people read (section 2.6 of the service document), beside the number itself. */
function readable(key: string, value: unknown): string {
  if (typeof value !== 'number') return String(value);
  if (key.endsWith('_millicents')) return `${value} (${(value / 100_000).toFixed(2)})`;
  if (key.endsWith('_cents')) return `${value} (${(value / 100).toFixed(2)})`;
  // Section 2.6 calls these Unix time; a small value is a duration.
  const isTime = /_ms$|_period_(start|end)$/.test(key) && value > Date.UTC(2000);
  return isTime ? `${value} (${new Date(value).toISOString()})` : String(value);
}

/** `poolwright ips`: the addresses that `proxyUrl: 'dedicated://…'` may name. */
export function addIpsCommand(program: Command): void {
  program
    .command('ips')
    .description("List the workspace's dedicated IPs (POOLWRIGHT_BASE_URL, POOLWRIGHT_API_KEY)")
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const rows = await withClient((client) => client.listDedicatedIps());
      // Shows every field, because none is documented.
      const columns = [...new Set(['ip', ...rows.flatMap((row) => Object.keys(row))])];
      printRows(rows, columns, json);
    });
}
