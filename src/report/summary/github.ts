import { appendFileSync } from 'node:fs';
import { errorMessage } from '../../common/error-message.ts';
import { printable } from '../../common/text/printable.ts';
import type { RunWithFigures } from '../../record/figures.ts';
import { summaryMarkdown } from './markdown.ts';
import { problems } from './summary.ts';

/** Output for GitHub Actions: the job summary, and a warning for each problem with browsers. */

/** Appends to the job summary, and returns lines to print. Returns none outside GitHub Actions. */
export function reportToGitHub(run: RunWithFigures, notes: string[], environment: NodeJS.ProcessEnv): string[] {
  const lines: string[] = [];
  const { GITHUB_STEP_SUMMARY: file, GITHUB_ACTIONS: actions } = environment;
  if (file) {
    try {
      appendFileSync(file, summaryMarkdown(run, notes));
    } catch (error) {
      const reason = errorMessage(error);
      lines.push(printable(`poolwright: the summary could not be added to GITHUB_STEP_SUMMARY: ${reason}`));
    }
  }
  if (actions === 'true') {
    for (const problem of [...problems(run.figures), ...notes]) {
      lines.push(`::warning title=poolwright::${asData(problem)}`);
    }
  }
  return lines;
}

/** In workflow commands, a percent sign starts an escape sequence. */
function asData(text: string): string {
  return printable(text).replaceAll('%', '%25');
}
