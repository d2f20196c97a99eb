import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test as base } from '@playwright/test';
import { type InitOptions, makePlan } from '../../../../src/cli/init/make-plan.ts';
import { diffOf, planLines } from '../../../../src/cli/init/show.ts';

interface Fixtures {
  /** Creates a project with these files, in a separate repository. */
  project(files: Record<string, string>): Promise<{
    directory: string;
    /** Returns what `init` would do there, or in a directory below; texts by file. */
    plan(options?: InitOptions, below?: string): Promise<PlanSeen>;
  }>;
}

export interface PlanSeen {
  title: string;
  texts: Record<string, string>;
  diffs: string[];
  present: string[];
  byHand: { file: string; why: string; lines: string[] }[];
  launches: { file: string; line: number }[];
  /** What `init` prints. */
  lines: string[];
  notes: string[];
  next: string[];
}

/** Tests of the plan of `init` for a project on disk. */
export const test = base.extend<Fixtures>({
  project: async ({}, use, testInfo) => {
    let count = 0;
    await use(async (files) => {
      const directory = testInfo.outputPath(`project-${++count}`);
      // The repository ends here: the directories above do not belong to the project.
      for (const [path, content] of Object.entries({ '.git/HEAD': '', ...files })) {
        await mkdir(dirname(join(directory, path)), { recursive: true });
        await writeFile(join(directory, path), content);
      }
      const here = (path: string) => path.slice(directory.length + 1).replaceAll('\\', '/');
      const plan = async (options: InitOptions = {}, below = '.') => {
        const { plan, title } = await makePlan(join(directory, below), options);
        return {
          title,
          texts: Object.fromEntries(plan.changes.map(({ file, after }) => [here(file), after])),
          diffs: plan.changes.map((change) => diffOf(change, directory)),
          present: plan.present,
          byHand: plan.byHand.map(({ file, why, lines }) => ({ file: here(file), why, lines })),
          launches: plan.launches.map(({ file, line }) => ({ file: here(file), line })),
          lines: planLines(plan, directory, false),
          notes: plan.notes,
          next: plan.next,
        };
      };
      return { directory, plan };
    });
  },
});

export { expect } from '@playwright/test';

/** Returns a `package.json` with these development dependencies and scripts. */
export function manifest(
  devDependencies: string[],
  scripts?: Record<string, string>,
  indent: number | string = 2,
): string {
  const versions = Object.fromEntries(devDependencies.map((name) => [name, '*']));
  return `${JSON.stringify({ name: 'project', ...(scripts && { scripts }), devDependencies: versions }, null, indent)}\n`;
}
