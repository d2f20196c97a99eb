import { constants } from 'node:fs';
import { access, chmod, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Command, Option } from 'commander';
import { notify } from '../../common/text/notify.ts';
import { writeAtomically } from '../../common/write-atomically.ts';
import { PoolwrightError } from '../../errors.ts';
import { type InitOptions, makePlan } from '../init/make-plan.ts';
import { type FileChange, onDisk, type Plan } from '../init/plan.ts';
import { BROWSERS } from '../init/plan-browsers.ts';
import { CI_PROVIDERS } from '../init/plan-ci.ts';
import { RUNNERS } from '../init/puppeteer-runners.ts';
import { planJson, planLines } from '../init/show.ts';
import { printJson } from '../print.ts';
import { confirm } from '../terminal.ts';

interface Options extends InitOptions {
  yes?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

const HELP = `
For Playwright, it writes playwright.hosted.config.*, which wraps playwright.config.*; that file does not change. For
Puppeteer, your runner's config does not change either: the script names poolwright (Vitest gets
vitest.hosted.config.mjs). It adds the script test:hosted to package.json and test-results/ to .gitignore, and asks
before it writes. A second run changes nothing. It installs nothing. For files that it cannot edit safely, it prints the
lines to add.
With --browsers addresses or provider, tests run on your own browsers: at the address of a debugging port, or those of
browsers.mjs, which starts Chromium on this machine.
Exit code: 0 set up, 1 something is left for you to add, 2 nothing was changed (without a terminal, init cannot ask).`;

/** `poolwright init`: makes a suite ready for hosted browsers. */
export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('Set up the tests in this directory for hosted browsers; shows the changes and asks first')
    .option(
      '--config <path>',
      "the tests' config file (default: playwright.config.* here, or the only one in subdirectories)",
    )
    .addOption(
      new Option('--runner <name>', 'which tests, if there are several kinds (default: detected)').choices([
        'playwright',
        ...Object.keys(RUNNERS),
      ]),
    )
    .addOption(
      new Option(
        '--browsers <whose>',
        'addresses of running browsers, or a provider file (default: the service)',
      ).choices(BROWSERS),
    )
    .addOption(new Option('--ci <provider>', 'also add a pipeline that runs the tests').choices(CI_PROVIDERS))
    .option('--dry-run', 'show the changes and make none')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(run);
}

async function run({ yes, dryRun, json, ...options }: Options): Promise<void> {
  const directory = process.cwd();
  const { plan, title } = await makePlan(directory, options);
  const changed = plan.changes.map(({ file }) => file);
  const isWanted = changed.length > 0 && !dryRun;
  const canAsk = yes === true || process.stdin.isTTY === true;

  // Programs read stdout, the user reads stderr.
  const out = json ? process.stderr : process.stdout;
  const color = out.isTTY === true && !process.env.NO_COLOR;
  if (!json || (isWanted && !yes && canAsk))
    out.write(`${[title, '', ...planLines(plan, directory, color)].join('\n')}\n`);
  if (isWanted && canAsk) {
    await confirm(`Change ${changed.length} ${changed.length === 1 ? 'file' : 'files'}?`, yes);
    await apply(plan.changes);
  }
  const applied = isWanted && canAsk;
  if (json) printJson({ title, ...planJson(plan, directory, applied) });
  else out.write(`${closing(plan, applied, changed.length > 0)}\n`);

  if (isWanted && !canAsk) {
    notify('nothing was changed: without a terminal, init cannot ask. Add --yes to change the files.');
    process.exitCode = 2;
  } else if (plan.byHand.length > 0) process.exitCode = 1;
}

function closing(plan: Plan, applied: boolean, hasChanges: boolean): string {
  if (!applied) {
    if (hasChanges) return 'Nothing was changed.';
    return plan.byHand.length > 0 ? 'Nothing else to change.' : 'Everything is set up: nothing to change.';
  }
  return ['Done. Next:', ...plan.next.map((step, n) => `  ${n + 1}. ${step}`)].join('\n');
}

/**
 * Writes all files of a plan, or none if one of them cannot be written or has changed since the plan read it.
 * @throws PoolwrightError `ABORTED` naming that file
 */
async function apply(changes: FileChange[]): Promise<void> {
  for (const { file, before } of changes) {
    // The question may have been open for a while.
    if (onDisk(file) !== before)
      throw new PoolwrightError(
        'ABORTED',
        `${file} has changed since the plan was made. Nothing was written: run init again.`,
      );
    const directory = await nearestDirectory(dirname(file));
    for (const each of before === null ? [directory] : [directory, file])
      await access(each, constants.W_OK).catch((error) => refuse(file, error, 'Nothing was changed.'));
  }
  const written: string[] = [];
  for (const { file, before, after } of changes) {
    try {
      await replace(file, before, after);
    } catch (error) {
      refuse(file, error, written.length > 0 ? `Already changed: ${written.join(', ')}.` : 'Nothing was changed.');
    }
    written.push(file);
  }
}

/** A link stays a link, and a file keeps its mode. */
async function replace(file: string, before: string | null, after: string): Promise<void> {
  if (before === null) {
    await writeAtomically(file, after);
    return;
  }
  const target = await realpath(file);
  const { mode } = await stat(target);
  await writeAtomically(target, after);
  await chmod(target, mode);
}

/** The directory, or the nearest one above it that exists. */
async function nearestDirectory(directory: string): Promise<string> {
  const exists = await stat(directory).then(
    () => true,
    () => false,
  );
  return exists || dirname(directory) === directory ? directory : await nearestDirectory(dirname(directory));
}

function refuse(file: string, error: unknown, state: string): never {
  const { code, message } = error as NodeJS.ErrnoException;
  throw new PoolwrightError('ABORTED', `${file} cannot be written (${code ?? message}). ${state}`, { cause: error });
}
