import { writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';

/** `node scripts/schema.mjs`: writes the published JSON schema of `run.json` from the one in the source. */

export const SCHEMA_FILE = 'schemas/run.schema.json';

/** The schema as text. A reader passes over fields it does not know: later files of the same version may have more. */
export function schemaText(runRecord) {
  const { $schema, ...rest } = z.toJSONSchema(runRecord, { io: 'input' });
  return `${JSON.stringify({ $schema, title: 'run.json of poolwright', ...rest }, null, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { ensureBuilt } = await import('./build.mjs');
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  await ensureBuilt();
  const { runRecord } = await import('../dist/reporter.js');
  writeFileSync(SCHEMA_FILE, schemaText(runRecord));
}
