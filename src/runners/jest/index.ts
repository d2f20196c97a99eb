/**
 * `poolwright/jest`. Enable it with `preset: 'poolwright/jest'` in jest.config. This module contains the types of the
 * globals, and functions for your own `globalSetup` and `globalTeardown`. Importing it loads nothing else.
 */
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';
import { distFile } from '../../common/dist-file.ts';
import type { GlobalConfig } from './run.ts';

export type { HostedSession } from '../../clients/shared/hosted-session.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export type { EnvironmentOptions } from './environment-options.ts';
export type { GlobalConfig } from './run.ts';

declare global {
  /**
   * The worker's hosted browser. Defined, like the other globals, in test files that contain the name of one of them.
   */
  var browser: Browser;
  /** The file's own context, or the browser's default context with its profile, depending on the option `context`. */
  var context: BrowserContext;
  /** The first page of {@link context}. */
  var page: Page;
  var hostedSession: HostedSession;
}

/**
 * Starts the run's broker. For your own `globalSetup`, which replaces that of the preset.
 * @param globalConfig the config that Jest passes to `globalSetup`
 * @throws OptionsError, ServiceError or EmulatorError, before any browser is requested
 */
export async function setup(globalConfig: GlobalConfig): Promise<void> {
  await (await importDist<typeof import('./global-setup.ts')>('jest-global-setup.js'))(globalConfig);
}

/**
 * Gives all browsers back, writes the record and prints the summary. For your own `globalTeardown`.
 * @param globalConfig the config that Jest passes to `globalTeardown`
 */
export async function teardown(globalConfig: GlobalConfig): Promise<void> {
  await (await importDist<typeof import('./global-teardown.ts')>('jest-global-teardown.js'))(globalConfig);
}

/** Imports by URL, so that CommonJS code gets the same module instances as Jest, which loads the preset's files. */
async function importDist<Module extends { default: unknown }>(name: Parameters<typeof distFile>[0]) {
  const module: Module = await import(pathToFileURL(distFile(name)).href);
  return module.default as Module['default'];
}
