import { dirname, extname, join, resolve } from 'node:path';
import type { PlaywrightTestConfig } from '@playwright/test';
import { up as nearestPackage } from 'empathic/package';
import { recordRefusedRun } from '../../shared/refused-run.ts';

/** Records why a config was rejected, where its run would have its record. @param args of the runner's process */
export function recordRefusedConfig(config: PlaywrightTestConfig, args: readonly string[], reason: unknown): void {
  const recordDirectory = join(outputDirectory(config, args), 'poolwright');
  recordRefusedRun({ recordDirectory, runner: 'playwright', shard: config.shard ?? null }, reason);
}

/** As Playwright resolves it. */
function outputDirectory(config: PlaywrightTestConfig, args: readonly string[]): string {
  const flag = argument(args, ['--output']);
  if (flag !== undefined) return resolve(flag);
  const place = resolve(argument(args, ['--config', '-c']) ?? '');
  const directory = extname(place) === '' ? place : dirname(place);
  const configured = config.projects?.[0]?.outputDir ?? config.outputDir;
  if (configured !== undefined) return resolve(directory, configured);
  const manifest = nearestPackage({ cwd: directory });
  return join(manifest === undefined ? directory : dirname(manifest), 'test-results');
}

/** The value of an argument: `--config x`, `--config=x`. */
function argument(args: readonly string[], names: readonly string[]): string | undefined {
  for (const [at, arg] of args.entries()) {
    if (names.includes(arg)) return args[at + 1];
    const name = names.find((each) => arg.startsWith(`${each}=`));
    if (name !== undefined) return arg.slice(name.length + 1);
  }
  return undefined;
}
