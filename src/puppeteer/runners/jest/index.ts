/**
 * `poolwright/jest`: `preset: 'poolwright/jest'` in jest.config turns it on. This module is for a `globalSetup` and a
 * `globalTeardown` of the user's own, and for the types of the globals. Tests that import it load nothing more.
 */
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { distFile } from '../../../common/dist-file.ts';
import type { HostedSession } from '../../../worker/hosted-session.ts';
import type { GlobalConfig } from './run.ts';

export type { HostedOptions } from '../../../options/schema/schema.ts';
export type { HostedSession } from '../../../worker/hosted-session.ts';
export type { EnvironmentOptions } from './environment-options.ts';
export type { GlobalConfig } from './run.ts';

declare global {
  /** The worker's hosted browser. There, as the others are, in test files that name one of the four. */
  var browser: Browser;
  /** A context of the file's own, or the browser's with its profile, as the option `context` says. */
  var context: BrowserContext;
  /** The first page of {@link context}. */
  var page: Page;
  var hostedSession: HostedSession;
}

/**
 * Starts the run's broker: for a `globalSetup` of the user's own, which takes the place of the preset's.
 * @param globalConfig what Jest passes to it
 * @throws OptionsError, ServiceError or EmulatorError codes, before any browser was asked for
 */
export async function setup(globalConfig: GlobalConfig): Promise<void> {
  await (await ours<typeof import('./global-setup.ts')>('jest-global-setup.js'))(globalConfig);
}

/**
 * Gives every browser back, writes the record and prints the summary: for a `globalTeardown` of the user's own.
 * @param globalConfig what Jest passes to it
 */
export async function teardown(globalConfig: GlobalConfig): Promise<void> {
  await (await ours<typeof import('./global-teardown.ts')>('jest-global-teardown.js'))(globalConfig);
}

/** By address, so that CommonJS gets the same modules as Jest, which loads the preset's. */
async function ours<Module extends { default: unknown }>(name: Parameters<typeof distFile>[0]) {
  const module: Module = await import(pathToFileURL(distFile(name)).href);
  return module.default as Module['default'];
}
