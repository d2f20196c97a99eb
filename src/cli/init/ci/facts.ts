import type { Agent } from '../libraries.ts';
import type { PlaywrightSuite } from '../plan-playwright.ts';
import { commandOf } from '../project/project.ts';

/** What a pipeline of this project needs to know. */
export interface PipelineFacts {
  /** The package's directory in the repository, with `/`; empty: the repository's own. */
  directory: string;
  agent: Agent;
  /** Runs the tests, as it is typed in `directory`. */
  test: string;
  /** Null for other runners: they have no shards and no report to merge. */
  playwright: PlaywrightSuite | null;
}

/** How many jobs a Playwright suite is divided into, to begin with. */
export const SHARDS = 2;
/** The part of a run's results that a pipeline keeps: record, timeline, and evidence of failed Puppeteer tests. */
export const RECORD = 'test-results/poolwright';
/** Of each Playwright shard, its report to merge. */
export const BLOBS = 'blob-report';
export const REPORT = 'playwright-report';

/** The comment that a file begins with. */
export function header(provider: string, settings: string): string[] {
  return [
    `# Written by \`npx poolwright init --ci ${provider}\`. init never changes it again: edit it as you like.`,
    `# ${settings}`,
    '# POOLWRIGHT_POOL is optional.',
  ];
}

/** A file's text. */
export function textOf(...parts: string[][]): string {
  return `${parts.flat().join('\n')}\n`;
}

export function indented(lines: string[], by: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(by) + line));
}

/** A path in the package, as seen from the repository's root. */
export function fromRoot({ directory }: PipelineFacts, path: string): string {
  return directory === '' ? path : `${directory}/${path}`;
}

export function cd({ directory }: PipelineFacts): string[] {
  return directory === '' ? [] : [`cd ${directory}`];
}

/** Installs the locked dependencies, and first the package manager, unless it is npm. */
export function install({ agent }: PipelineFacts, sudo = ''): string[] {
  const manager = agent.replace(/@.*/, '');
  const enable = manager === 'bun' ? 'npm install --global bun' : 'corepack enable';
  return [...(manager === 'npm' ? [] : [sudo + enable]), commandOf(agent, 'frozen', [])];
}

/** Videos are written by Playwright on the machine that runs the tests. Hosted browsers need nothing else there. */
export function videoWriter({ agent, playwright }: PipelineFacts): string[] {
  return playwright?.hasVideo ? [commandOf(agent, 'execute-local', ['playwright', 'install', 'ffmpeg'])] : [];
}

/** Chromium for the emulator. */
export function chromium({ agent, playwright }: PipelineFacts): string {
  const args = ['playwright', 'install', '--with-deps', 'chromium'];
  return playwright ? commandOf(agent, 'execute-local', args) : ['npx --yes', ...args].join(' ');
}

/** Runs the tests; Playwright's one shard of them, which leaves a report to merge. */
export function runTests({ test, playwright }: PipelineFacts, shard: string): string {
  return playwright ? `${test} --reporter=line,blob --shard="${shard}"` : test;
}

export function sweep({ agent }: PipelineFacts): string {
  return commandOf(agent, 'execute-local', ['poolwright', 'sweep']);
}

/**
 * Puts a shard's files where they do not replace those of the others.
 * @param shard a variable's name, `$` included
 */
export function keepShard(shard: string): string[] {
  return [`mkdir -p "shards/${shard}"`, `cp -r ${BLOBS} ${RECORD} "shards/${shard}"`];
}

/** Makes one report of all shards. @param record a shard's record, relative to its directory */
export function mergeShards({ agent }: PipelineFacts, { config }: PlaywrightSuite, record = 'poolwright'): string[] {
  const run = (...args: string[]) => commandOf(agent, 'execute-local', args);
  return [
    `mkdir blobs && cp shards/*/${BLOBS}/*.zip blobs`,
    run('playwright', 'merge-reports', '-c', config, '--reporter=html', 'blobs'),
    run('poolwright', 'report', 'merge', `shards/*/${record}/run.json`, '--output', `${REPORT}/poolwright`) +
      ` --html ${REPORT}`,
  ];
}
