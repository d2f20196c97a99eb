import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Lints the tarball with publint. @returns {Promise<string[]>} problems, one line each */
export async function lintPackage(file) {
  const { buffer, byteOffset, byteLength } = readFileSync(file);
  const tarball = buffer.slice(byteOffset, byteOffset + byteLength);
  const { messages, pkg } = await publint({ strict: true, pack: { tarball } });
  return messages.map((message) => `publint: ${message.type}: ${formatMessage(message, pkg, { color: false })}`);
}

/**
 * Asks are-the-types-wrong how TypeScript resolves each entry from ESM, from CommonJS and through a bundler. `node10`,
 * which knows no `exports`, is supported for the package's main entry only.
 * An entry without types for `require` is not to be found from CommonJS.
 * @param entries as `entriesOf` says them
 * @returns {Promise<string[]>} problems, one line each
 */
export async function lintTypes(file, entries, packageName) {
  const { problems, types } = await checkPackage(createPackageFromTarballData(readFileSync(file)), {
    entrypoints: entries.map(({ name }) => name),
  });
  if (!types) return ['types: the package has none'];
  const onlyEsm = new Set(entries.filter((entry) => !entry.hasCommonJsTypes).map(({ name }) => name));
  return problems
    .map((problem) => ({ ...problem, name: nameOf(problem.entrypoint, packageName) }))
    .filter(({ name, resolutionKind }) => resolutionKind !== 'node10' || name === packageName)
    .filter(({ kind, name, resolutionKind }) => {
      const isOfCommonJs = kind === 'CJSResolvesToESM' || (kind === 'NoResolution' && resolutionKind === 'node16-cjs');
      return !isOfCommonJs || !onlyEsm.has(name);
    })
    .map(({ kind, name, resolutionKind, ...rest }) => {
      const where = [name, resolutionKind, rest.fileName].filter(Boolean).join(', ');
      return `types: ${kind} (${where || JSON.stringify(rest)})`;
    });
}

/** `./client` is `poolwright/client`. */
function nameOf(entrypoint, packageName) {
  if (entrypoint === undefined) return undefined;
  return entrypoint === '.' ? packageName : entrypoint.replace(/^\./, packageName);
}
