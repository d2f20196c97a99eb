import type { Command } from 'commander';
import { printJson, printLine, printRows } from '../print.ts';
import { confirm } from '../terminal.ts';
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
  const [deleted, missing]: [string[], string[]] = [[], []];
  await withClient(async (client) => {
    const known = new Set((await client.listProfiles()).map(({ name }) => name));
    for (const name of names) {
      // The service accepts a name that it does not know.
      await client.deleteProfile(name);
      (known.has(name) ? deleted : missing).push(name);
      if (!json) printLine(known.has(name) ? `deleted profile "${name}"` : `there is no profile "${name}"`);
    }
  });
  if (json) printJson({ deleted, missing });
}
