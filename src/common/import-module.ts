import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OptionsError } from '../errors.ts';
import { errorMessage } from './error-message.ts';

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
 * it (22.18 and later), else for `jiti`, if the user's package has it. In a package with `"type": "commonjs"`, as
 * `npm init` makes it, Node takes a `.ts` file for CommonJS, whatever its syntax; there, `jiti` goes first.
 * @throws OptionsError: TypeScript that neither can load
 */
export async function importFile(path: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(path);
  if (!/\.[cm]?ts$/.test(path)) return await importModule(url);
  const isForNode = 'typescript' in process.features && Boolean(process.features.typescript);
  const isTakenForCommonJs = path.endsWith('.ts') && packageType(dirname(path)) === 'commonjs';
  const jiti = isForNode && !isTakenForCommonJs ? null : jitiFor(path);
  if (jiti) return await jiti.import(path);
  const name = basename(path);
  if (!isForNode)
    throw new OptionsError(
      name,
      `Node ${process.versions.node} cannot load TypeScript. Run \`npm install --save-dev jiti\`, use Node 22.18 or later, or write the file in JavaScript (.mjs)`,
    );
  return await importModule(url).catch((error) => {
    if (!isTakenForCommonJs || Object(error).name !== 'SyntaxError') throw error;
    throw new OptionsError(
      name,
      `${errorMessage(error).replace(/\.$/, '')}. The package has "type": "commonjs": if this is an ES module, name it ${name.replace(/ts$/, 'mts')}, or run \`npm install --save-dev jiti\``,
    );
  });
}

/** The `type` of the package that a directory belongs to. */
function packageType(directory: string): unknown {
  const file = join(directory, 'package.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).type;
  return directory === dirname(directory) ? undefined : packageType(dirname(directory));
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

export function defaultExport(loaded: unknown): unknown {
  let value = loaded;
  // `import()` of a CommonJS file compiled from TypeScript nests `default` in `default`. Some modules are
  // their own default export.
  while (typeof value === 'object' && value !== null && 'default' in value && value.default !== value) {
    value = value.default;
  }
  return value;
}
