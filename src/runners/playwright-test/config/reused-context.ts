import { OptionsError } from '../../../errors.ts';

/**
 * Whether Playwright runs all tests of a worker in one context that it resets between tests (`use.reuseContext`, or the
 * variable that its editor extensions set). Playwright opens that context itself, not through the `browser` of tests.
 */
export function reusesContext(use: object): boolean {
  return Boolean(process.env.PW_TEST_REUSE_CONTEXT) || ('reuseContext' in use && use.reuseContext === true);
}

/**
 * The `use` of a config. Component tests (`@playwright/experimental-ct-*`) reuse their context, by an option that is
 * not public; their `defineConfig` leaves its name in the config.
 */
export function commonUse<U extends object>(config: { use?: U | undefined }): U {
  return { ...('@playwright/experimental-ct-core' in config && { reuseContext: true }), ...config.use } as U;
}

/**
 * Rejects a combination that would lose data or identity: the reset clears cookies and storage, and applies the
 * emulation in `use`.
 * @param where where the option is set, for the error
 * @throws OptionsError
 */
export function assertReusable(
  use: object,
  mode: { persistent: boolean; keepsIdentity: boolean },
  where: string,
): void {
  if (!reusesContext(use) || !(mode.persistent || mode.keepsIdentity)) return;
  const [why, instead] = mode.persistent
    ? ["it would clear a persistent context's cookies and storage after each test", "context: 'isolated'"]
    : ['it applies emulation, which would reveal a stealth browser', "identity: 'override'"];
  throw new OptionsError(
    `${where}.reuseContext`,
    `\`${where}.reuseContext\` (or PW_TEST_REUSE_CONTEXT): ${why}. Remove it (component tests always have it), or set \`hosted: { ${instead} }\`.`,
  );
}
