import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { ensureBuilt } from './build.mjs';
import { entriesOf } from './package/entries.mjs';
import { main } from './playwright.mjs';

/**
 * `npm run api`: writes the report of each entry's public surface into `api/`, which is committed, so that a change of
 * it is seen and meant. `npm run api -- --check` compares instead, and fails with the difference. Both fail when a
 * member has no docstring.
 */

const DIRECTORY = 'api';
/** What the check compares with; made anew each time. */
const MADE = join('node_modules', '.cache', 'poolwright-api');
const TEMPORARY = join('node_modules', '.cache', 'poolwright-api-extractor');

await main(async () => {
  await ensureBuilt();
  const checks = process.argv.includes('--check');
  const directory = checks ? MADE : DIRECTORY;
  rmSync(directory, { recursive: true, force: true });
  for (const path of [directory, TEMPORARY]) mkdirSync(path, { recursive: true });
  const problems = write(entriesOf(JSON.parse(readFileSync('package.json', 'utf8'))), directory);
  problems.push(...undocumented(directory));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) return 1;
  return checks ? compare() : 0;
});

/** Writes a report for each entry. @returns {string[]} what api-extractor could not make sense of */
function write(entries, directory) {
  const configs = entries.map((entry) => configOf(entry, directory));
  const [first, ...others] = configs;
  // One program for all: that is most of the time.
  const compilerState = CompilerState.create(first, {
    additionalEntryPoints: others.map((config) => config.mainEntryPointFilePath),
  });
  const problems = [];
  for (const config of configs) {
    Extractor.invoke(config, {
      compilerState,
      localBuild: true,
      messageCallback: (message) => {
        message.handled = true;
        const isOurs = message.category !== 'console'; // the console's are about files that are written anew
        if (isOurs && /error|warning/.test(message.logLevel))
          problems.push(`${config.reportFilePath}: ${message.text}`);
      },
    });
  }
  return problems;
}

/** The members without a docstring, which api-extractor marks on the line before. @returns {string[]} */
function undocumented(directory) {
  return readdirSync(directory).flatMap((file) => {
    const lines = readFileSync(join(directory, file), 'utf8').split('\n');
    return lines.flatMap((line, at) =>
      line.includes('(undocumented)') ? [`${file}: without a docstring: ${lines[at + 1]?.trim()}`] : [],
    );
  });
}

function configOf({ name, types }, directory) {
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve('package.json'),
    configObject: {
      projectFolder: resolve('.'),
      mainEntryPointFilePath: resolve(types),
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'ES2022',
            lib: ['ES2023'],
            module: 'NodeNext',
            moduleResolution: 'NodeNext',
            strict: true,
            skipLibCheck: true,
            types: ['node'],
          },
          include: [resolve(types)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${name.replaceAll('/', '-')}.api.md`,
        reportFolder: resolve(directory),
        reportTempFolder: resolve(TEMPORARY),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: {
          default: { logLevel: 'warning' },
          // Everything that is exported is public.
          'ae-missing-release-tag': { logLevel: 'none' },
          // A type that is part of a public one is written out in the report, under its own name.
          'ae-forgotten-export': { logLevel: 'none' },
          // The first is marked in the report itself, the second seen by who reads the docstring.
          'ae-undocumented': { logLevel: 'none' },
          'ae-unresolved-link': { logLevel: 'none' },
        },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  });
}

/** Shows what differs between the committed reports and those just made. */
function compare() {
  const names = new Set(
    [DIRECTORY, MADE].flatMap((directory) => (existsSync(directory) ? readdirSync(directory) : [])),
  );
  const differ = [...names].filter((name) => text(join(DIRECTORY, name)) !== text(join(MADE, name)));
  for (const name of differ.sort()) {
    const args = [
      'diff',
      '--no-index',
      '--no-color',
      '--',
      ...[DIRECTORY, MADE].map((directory) => orNothing(join(directory, name))),
    ];
    const { stdout } = spawnSync('git', args, { encoding: 'utf8' });
    console.error(
      `The public surface of ${basename(name, '.api.md')} is not the one in ${DIRECTORY}/${name}:\n${stdout}`,
    );
  }
  if (differ.length === 0) return 0;
  console.error(
    'If you mean to change the API: run npm run api, and add a changeset (docs/compatibility-promise.md). Otherwise undo it.',
  );
  return 1;
}

function text(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function orNothing(file) {
  return existsSync(file) ? file : '/dev/null';
}
