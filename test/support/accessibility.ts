import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/**
 * Returns what axe finds wrong on a page: a line per rule, with the elements that violate it.
 * @param parts selectors of what it looks at; default: the whole page
 */
export async function violationsOn(page: Page, parts: readonly string[] = []): Promise<string[]> {
  // In the page itself, which has no frames, and without details of what passes: three times as fast.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  for (const part of parts) axe.include(part);
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
