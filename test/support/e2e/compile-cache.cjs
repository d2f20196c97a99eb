/**
 * Preloaded into the Node processes of a tested run: shares V8's compiled code for Playwright's bundles between
 * processes. A suite of 200 runs starts 600 processes that load them, and each saves a tenth of a second of CPU time or
 * more. The behaviour is unchanged. From Node 22 on, Node has this built in.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const nodeModule = require('node:module');
const { dirname, join, resolve } = require('node:path');
const vm = require('node:vm');

const DIRECTORY = resolve(__dirname, '../../../node_modules/.cache/poolwright-compiled');
/** Bundles without relative imports: this loader loses the path that such imports need. */
const BUNDLE = /[\\/]node_modules[\\/]playwright(?:-core)?[\\/]lib[\\/]/;
/** An `eval` with an import: cached code cannot run it. Such a bundle has an empty file in the cache. */
const IMPORTS = /\beval\(`import\(/;
const WORTH_IT_CHARACTERS = 30_000;

if (nodeModule.enableCompileCache) nodeModule.enableCompileCache(DIRECTORY);
else if (vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER) compileFromCache(vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER);

function compileFromCache(importModuleDynamically) {
  const compile = nodeModule.prototype._compile;
  const fresh = new Map();

  nodeModule.prototype._compile = function (content, filename, ...rest) {
    if (content.length < WORTH_IT_CHARACTERS || !BUNDLE.test(filename))
      return compile.call(this, content, filename, ...rest);
    const place = join(DIRECTORY, keyOf(filename));
    const cachedData = readIfThere(place);
    if (cachedData?.length === 0 || (!cachedData && IMPORTS.test(content))) {
      if (!cachedData) fresh.set(place, null);
      return compile.call(this, content, filename, ...rest);
    }
    const script = new vm.Script(nodeModule.wrap(content), { filename, cachedData, importModuleDynamically });
    if (!cachedData || script.cachedDataRejected) fresh.set(place, script);
    const require = Object.assign((id) => this.require(id), nodeModule.createRequire(filename), {
      main: process.mainModule,
    });
    return script.runInThisContext().call(this.exports, this.exports, require, this, filename, dirname(filename));
  };

  // At exit, because V8 has then compiled the functions that such a process needs.
  process.on('exit', () => {
    if (fresh.size > 0) mkdirSync(DIRECTORY, { recursive: true });
    for (const [place, script] of fresh) {
      const draft = `${place}.${process.pid}`;
      writeFileSync(draft, script?.createCachedData() ?? '');
      renameSync(draft, place);
    }
  });
}

/** Not of the content: to hash megabytes takes a tenth of the time that the cache saves. */
function keyOf(filename) {
  const { mtimeMs, size } = statSync(filename);
  return createHash('sha1').update(`${process.version} ${filename} ${mtimeMs} ${size}`).digest('hex');
}

function readIfThere(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
