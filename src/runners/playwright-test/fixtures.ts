import { OptionsError } from '../../errors.ts';

/**
 * Loads the fixtures that run a suite on hosted browsers. The config wrapper adds them to `use`, where option fixtures
 * may be functions; the `test` of poolwright extends with them. Every process that loads the config loads this file, so
 * the implementation is imported only when a fixture runs.
 */
export function loadFixtures(): Promise<typeof import('./worker-fixtures.ts')> {
  return import('./worker-fixtures.ts');
}

/** Rejects a project that cannot run on a hosted browser, before a browser is requested. */
export function assertChromium(browserName: string, project: string): void {
  if (browserName === 'chromium') return;
  throw new OptionsError(
    'use.hosted',
    `Project "${project}" uses ${browserName}, but hosted browsers are Chromium. Set \`use: { hosted: false }\` there, or use chromium.`,
  );
}
