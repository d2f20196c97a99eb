import type { Command } from 'commander';
import { confirm } from '../confirm.ts';
import { printJson, printLine, printRows } from '../print.ts';
import { withClient } from '../with-client.ts';

const COLUMNS = ['name', 'profileId', 'createdAt'];

/** `poolwright profiles`: what sessions with `profile: { persist: true }` have saved. */
export function addProfilesCommand(program: Command): void {
  const profiles = program
    .command('profiles')
    .description("List and delete the workspace's saved profiles (POOLWRIGHT_BASE_URL, POOLWRIGHT_API_KEY)");
  profiles
    .command('list')
    .description('List saved profiles')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      printRows(await withClient((client) => client.listProfiles()), COLUMNS, json);
    });
  profiles
    .command('delete')
    .description('Delete saved profiles with their cookies and storage; missing ones are ignored')
    .argument('<names...>')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(deleteProfiles);
}

async function deleteProfiles(names: string[], { yes, json }: { yes?: boolean; json?: boolean }): Promise<void> {
  await confirm(`Delete ${names.map((name) => `profile "${name}"`).join(', ')} for good?`, yes);
  await withClient(async (client) => {
    for (const name of names) {
      await client.deleteProfile(name);
      if (!json) printLine(`deleted profile "${name}"`);
    }
  });
  if (json) printJson({ deleted: names });
}
