import { OptionsError } from '../../errors.ts';

/**
 * Playwright may serve all tests of a worker with one context that it resets in between (`use.reuseContext`, or the variable
 * that its editors set). It makes that one by itself, not through the browser that tests see.
 */
export function reusesContext(use: object): boolean {
  return Boolean(process.env.PW_TEST_REUSE_CONTEXT) || ('reuseContext' in use && use.reuseContext === true);
}

/**
 * Refuses what would be lost on the way: the reset clears cookies and storage, and the emulation of `use` is applied.
 * @param where the option stands, for the error
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
    : ['it applies the emulation that a stealth browser is kept from', "identity: 'override'"];
  throw new OptionsError(
    `${where}.reuseContext`,
    `\`${where}.reuseContext\` (or PW_TEST_REUSE_CONTEXT): ${why}. Remove it, or set \`hosted: { ${instead} }\`.`,
  );
}
