import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { transform } from 'esbuild';

/**
 * Whether built code holds only bundled libraries, and of ours no more than modules that re-export them
 * (`*-library.ts`, `libraries.ts`); esbuild names the source of each part in a comment.
 */
export function isLibraryCode(code) {
  return /^\/\/ node_modules\//m.test(code) && !/^\/\/ src\/(?!\S*(?:-library|\/libraries)\.ts$)/m.test(code);
}

/**
 * A plugin for tsup: makes CommonJS of a build that is split, which esbuild itself does only for ES modules. tsup would
 * do it with sucrase, which also rewrites the public fields of classes: they would be initialised after the private
 * ones.
 * @type {NonNullable<import('tsup').Options['plugins']>[number]}
 */
export const commonJs = {
  name: 'commonjs',
  buildStart() {
    this.splitting = false; // keeps sucrase out: that is all the plugins' context is asked for
  },
  async renderChunk(code, { path }) {
    if (!path.endsWith('.cjs')) return;
    const result = await transform(code, {
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      // Users of Jest load this, too: without flags, a Node in a virtual machine knows no `import()`.
      supported: { 'dynamic-import': false },
      charset: 'utf8',
      legalComments: 'inline',
      minify: isLibraryCode(code),
      keepNames: isLibraryCode(code),
    });
    return { code: result.code };
  },
};

/**
 * A plugin for tsup: writes an ES module beside these entries of a CommonJS build, with the same exports. However users
 * load the package, a process has its code once. CommonJS loads faster: for each imported file, Playwright's loader
 * asks another thread.
 * @param isBundled whether users may bundle these entries: bundlers follow imports. Otherwise the ES module requires
 * its CommonJS, which Node then does not scan for exports.
 * @returns {NonNullable<import('tsup').Options['plugins']>[number]}
 */
export const esModulesOf = (names, { isBundled }) => ({
  name: 'es-modules',
  renderChunk(_code, { path, exports = [] }) {
    if (!names.includes(basename(path, '.cjs'))) return;
    const from = `'./${basename(path)}'`;
    const named = exports.filter((name) => name !== 'default').join(', ');
    const lines = isBundled
      ? [`export { ${named} } from ${from};`]
      : [
          "import { createRequire } from 'node:module';",
          `const all = createRequire(import.meta.url)(${from});`,
          `export const { ${named} } = all;`,
          ...(exports.includes('default') ? ['export default all.default;'] : []),
        ];
    writeFileSync(path.replace(/cjs$/, 'js'), `${lines.join('\n')}\n`);
  },
});
