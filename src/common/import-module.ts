import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OptionsError } from '../errors.ts';

/** An `import()` that no build rewrites. Node would warn of one in a `Script`, which it calls experimental. */
const load = new Function('url', 'return import(url)') as (url: string) => Promise<Record<string, unknown>>;

/**
 * Loads a module of the user's, whichever kind it is. The CommonJS build would make a `require` of an `import()`, which
 * knows no `file:` URL, and no ES module before Node 20.19.
 */
export async function importModule(url: URL): Promise<Record<string, unknown>> {
  return await load(url.href);
}

/**
 * Loads a file of the user's outside of Playwright, whose loader is not public. TypeScript is for Node, where it knows
 * it (22.18 and later), else for `jiti`, if the user's package has it.
 */
export async function importFile(path: string): Promise<Record<string, unknown>> {
  const isForNode = !/\.[cm]?ts$/.test(path) || ('typescript' in process.features && process.features.typescript);
  if (isForNode) return await importModule(pathToFileURL(path));
  const jiti = jitiFor(path);
  if (jiti) return await jiti.import(path);
  throw new OptionsError(
    basename(path),
    `Node ${process.versions.node} cannot load TypeScript. Run \`npm install --save-dev jiti\`, use Node 22.18 or later, or write the file in JavaScript (.mjs)`,
  );
}

interface Jiti {
  import(path: string): Promise<Record<string, unknown>>;
}

function jitiFor(path: string): Jiti | null {
  try {
    const { createJiti }: { createJiti(parent: string): Jiti } = createRequire(path)('jiti');
    return createJiti(path);
  } catch {
    return null;
  }
}

/** Whether an `import()` failed because there is no such package; our CommonJS build has `require()` in its place. */
export function isMissingModule(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code));
}
