import type { Command } from 'commander';
import type { Extension, ServiceClient } from '../../service/index.ts';
import { printJson, printLine, printRows } from '../print.ts';
import { confirm, withProgress } from '../terminal.ts';
import { withClient } from '../with-client.ts';

const COLUMNS = ['extensionId', 'crxExtensionId', 'name', 'version', 'createdAt', 'updatedAt'];

interface Flags {
  yes?: boolean;
  json?: boolean;
}

/** `poolwright extensions`: the extensions that sessions may name in `extensionIds`. */
export function addExtensionsCommand(program: Command): void {
  const extensions = program
    .command('extensions')
    .description("List and change the workspace's extensions (POOLWRIGHT_BASE_URL, POOLWRIGHT_API_KEY)");
  extensions
    .command('list')
    .description('List extensions')
    .option('--json', 'print JSON')
    .action((flags: Flags) => show(flags, (client) => client.listExtensions()));
  extensions
    .command('get')
    .description('Show one extension')
    .argument('<extension-id>')
    .option('--json', 'print JSON')
    .action((id: string, flags: Flags) => show(flags, async (client) => [await client.getExtension(id)]));
  extensions
    .command('upload')
    .description('Upload an extension')
    .argument('<zip>', 'a ZIP file with manifest.json at its root')
    .option('--json', 'print JSON')
    .action((zip: string, flags: Flags) => upload(zip, flags, (client) => client.uploadExtension(zip)));
  extensions
    .command('update')
    .description('Replace an extension with a new ZIP; it keeps its ID, and running sessions keep their version')
    .argument('<extension-id>')
    .argument('<zip>', 'a ZIP file with manifest.json at its root')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(update);
  extensions
    .command('delete')
    .description('Delete extensions')
    .argument('<extension-ids...>')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(deleteExtensions);
}

async function show({ json }: Flags, find: (client: ServiceClient) => Promise<Extension[]>): Promise<void> {
  printRows(await withClient(find), COLUMNS, json);
}

async function upload(zip: string, flags: Flags, send: (client: ServiceClient) => Promise<Extension>): Promise<void> {
  await show(flags, (client) => withProgress(`uploading ${zip}`, async () => [await send(client)]));
}

async function update(extensionId: string, zip: string, flags: Flags): Promise<void> {
  await confirm(`Replace extension ${extensionId} with ${zip}?`, flags.yes);
  await upload(zip, flags, (client) => client.replaceExtension(extensionId, zip));
}

async function deleteExtensions(extensionIds: string[], { yes, json }: Flags): Promise<void> {
  await confirm(`Delete ${extensionIds.map((id) => `extension ${id}`).join(', ')} for good?`, yes);
  await withClient(async (client) => {
    for (const extensionId of extensionIds) {
      await client.deleteExtension(extensionId);
      if (!json) printLine(`deleted ${extensionId}`);
    }
  });
  if (json) printJson({ deleted: extensionIds });
}
