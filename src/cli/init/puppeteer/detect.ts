import type { Project } from '../project/project.ts';
import type { PuppeteerRunner } from './runners.ts';

const PUPPETEER = ['puppeteer', 'puppeteer-core', 'puppeteer-extra', 'jest-puppeteer'];

/**
 * The runner of a project's Puppeteer tests, by its dependencies and scripts; null: it has no Puppeteer, or no runner.
 */
export function detectRunner({ dependencies, manifest }: Project): PuppeteerRunner | null {
  if (!hasPuppeteer(dependencies)) return null;
  const byName = (['vitest', 'jest', 'mocha'] as const).find((name) => dependencies.has(name));
  if (byName) return byName;
  if (dependencies.has('jest-puppeteer')) return 'jest';
  const scripts = Object.values(manifest?.scripts ?? {});
  return scripts.some((script) => /\bnode\b.*\s--test\b/.test(script)) ? 'node-test' : null;
}

/** Whether any package of Puppeteer's is among these. */
export function hasPuppeteer(dependencies: Set<string>): boolean {
  return PUPPETEER.some((name) => dependencies.has(name));
}
