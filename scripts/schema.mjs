import { writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';

/** `node scripts/schema.mjs`: writes the published JSON schemas from those in the source. */

export const SCHEMA_FILE = 'schemas/run.schema.json';
export const TIMINGS_SCHEMA_FILE = 'schemas/timings.schema.json';

/** The schema as text. A reader passes over fields it does not know: later files of the same version may have more. */
export function schemaText(schema, file = 'run.json') {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return `${JSON.stringify({ $schema, title: `${file} of poolwright`, ...rest }, null, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { ensureBuilt } = await import('./build.mjs');
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  await ensureBuilt();
  const { runRecord, timingsFile } = await import('../dist/reporter.js');
  writeFileSync(SCHEMA_FILE, schemaText(runRecord));
  if (timingsFile) writeFileSync(TIMINGS_SCHEMA_FILE, schemaText(timingsFile, 'poolwright-timings.json'));
}
