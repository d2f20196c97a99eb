import type { Command } from 'commander';
import { printRows } from '../print.ts';
import { withClient } from '../with-client.ts';

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
