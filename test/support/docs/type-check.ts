import { dirname, join } from 'node:path';
import ts from 'typescript';
import { typedEntries } from '../../../tsup.config.ts';
import { type CodeBlock, ROOT } from './pages.ts';

/** For JavaScript, only errors about imports count: the globals of a runner without an import are unknown. */
const IMPORT_ERRORS = new Set([2305, 2307, 2614, 2724]);

/** A directory that does not exist, so that packages resolve from the root. */
const CODE = join(ROOT, '.docs-code');
/** What `playwright.hosted.config.ts` wraps. */
const READERS_CONFIG = join(CODE, 'playwright.config.ts');

/** Returns the source of each public entry in the build, by the name that users import. */
export function entrySources(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(typedEntries).map(([name, source]) => [
      name === 'index' ? 'poolwright' : `poolwright/${name}`,
      join(ROOT, source),
    ]),
  );
}

/** Returns TypeScript's errors in these blocks, each compiled as a separate module: `page:line: message`. */
export function typeErrors(blocks: readonly CodeBlock[]): string[] {
  const files = new Map(blocks.map((block, n) => [join(CODE, `${n}.${extensionOf(block)}`), block]));
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  const codeOf = (name: string) => {
    if (name === READERS_CONFIG)
      return "import { defineConfig } from '@playwright/test'; export default defineConfig({});";
    const block = files.get(name);
    return block && `${block.code}\nexport {};\n`;
  };
  host.fileExists = (name) => name === READERS_CONFIG || files.has(name) || fileExists(name);
  host.directoryExists = (name) => name === CODE || ts.sys.directoryExists(name);
  host.readFile = (name) => codeOf(name) ?? readFile(name);
  host.getSourceFile = (name, ...rest) => {
    const code = codeOf(name);
    return code === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, code, ts.ScriptTarget.ES2022);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([name, block]) => {
    const source = program.getSourceFile(name);
    const semantic = program.getSemanticDiagnostics(source).filter(({ code }) => counts(block, code));
    return [...program.getSyntacticDiagnostics(source), ...semantic].map((each) => said(block, source, each));
  });
}

function counts({ language }: CodeBlock, code: number): boolean {
  return language === 'ts' || IMPORT_ERRORS.has(code);
}

function said({ page, line }: CodeBlock, source: ts.SourceFile | undefined, { start, messageText }: ts.Diagnostic) {
  const at = source && start !== undefined ? source.getLineAndCharacterOfPosition(start).line : 0;
  return `${page}:${line + at}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
}

/** JavaScript with CommonJS exports or `require` is CommonJS. */
function extensionOf({ language, code }: CodeBlock): string {
  if (language === 'ts') return 'ts';
  return /\bmodule\.exports\b|\brequire\(/.test(code) ? 'cjs' : 'mjs';
}

function compilerOptions(): ts.CompilerOptions {
  const file = join(ROOT, 'tsconfig.json');
  const { config } = ts.readConfigFile(file, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [file] }, ts.sys, dirname(file));
  const paths = Object.fromEntries(Object.entries(entrySources()).map(([name, source]) => [name, [source]]));
  return { ...options, allowJs: true, checkJs: true, paths };
}
