import { constants, Script } from 'node:vm';

const load: (url: string) => Promise<Record<string, unknown>> = new Script('(url) => import(url)', {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}).runInThisContext();

/**
 * Loads a module of the user's, whichever kind it is. The CommonJS build would make a `require` of an `import()`, which
 * knows no `file:` URL, and no ES module before Node 20.19.
 */
export async function importModule(url: URL): Promise<Record<string, unknown>> {
  return await load(url.href);
}

/** Whether an `import()` failed because there is no such package; our CommonJS build has `require()` in its place. */
export function isMissingModule(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code));
}
