import { isDeepStrictEqual } from 'node:util';
import type { Page } from '@playwright/test';
import fc from 'fast-check';
import { expect, test } from '../../support/cdp/two-ways.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** Random actions on random pages: the result of each, and what the page sees of them, are the same in both modes. */

const RUNS = propertyRuns(20, 2);
/** Time limit for an action, in ms: many wait in vain. */
const ACTION_MS = 2_500;
/** The limit for a retry after a difference in which only one mode timed out: a busy machine is slower. */
const PATIENT_MS = 60_000;

const KINDS = [
  'button',
  'input',
  'checkbox',
  'select',
  'link',
  'disabled',
  'covered',
  'hidden',
  'moving',
  'late',
  'leaving',
] as const;
const PLACES = ['page', 'frame', 'shadow'] as const;
const DEEDS = [
  'click',
  'dblclick',
  'fill',
  'check',
  'hover',
  'press',
  'select',
  'text',
  'visible',
  'away',
  'reload',
  'evaluate',
] as const;

const element = fc.record({ kind: fc.constantFrom(...KINDS), place: fc.constantFrom(...PLACES) });
const deed = fc.record({ deed: fc.constantFrom(...DEEDS), on: fc.nat({ max: 5 }) });
const story = fc.record({
  elements: fc.array(element, { minLength: 1, maxLength: 5 }),
  deeds: fc.array(deed, { minLength: 3, maxLength: 8 }),
});
type Story = typeof story extends fc.Arbitrary<infer One> ? One : never;

const NOTE = `onclick="top.noted.push('click ' + this.id)" onchange="top.noted.push('change ' + this.id + ' ' + this.value)"`;

/** A kind as HTML. */
const HTML: Record<(typeof KINDS)[number], (id: string) => string> = {
  button: (id) => `<button id="${id}" ${NOTE}>go</button>`,
  input: (id) => `<input id="${id}" ${NOTE}>`,
  checkbox: (id) => `<input type="checkbox" id="${id}" ${NOTE}>`,
  select: (id) => `<select id="${id}" ${NOTE}><option>one<option>two</select>`,
  link: (id) => `<a id="${id}" href="#there" ${NOTE}>there</a>`,
  disabled: (id) => `<button id="${id}" disabled ${NOTE}>no</button>`,
  covered: (id) =>
    `<div style="position:relative"><button id="${id}" ${NOTE}>below</button><i style="position:absolute;inset:0"></i></div>`,
  hidden: (id) => `<button id="${id}" style="display:none" ${NOTE}>none</button>`,
  moving: (id) =>
    `<style>@keyframes go { to { margin-left: 90px } }</style><button id="${id}" style="animation:go 0.2s linear" ${NOTE}>moves</button>`,
  late: (id) =>
    `<b><script>setTimeout((b) => { b.innerHTML = '<button id="${id}" onclick="top.noted.push(\\'click ${id}\\')">late</button>' }, 150, document.currentScript.parentNode)</script></b>`,
  leaving: (id) => `<button id="${id}" onclick="top.noted.push('click ${id}'); this.remove()">leaves</button>`,
};

function pageOf({ elements }: Story): string {
  const inside = (place: string) =>
    elements.flatMap((one, index) => (one.place === place ? [HTML[one.kind](`e${index}`)] : []));
  const shadow = inside('shadow').map((html) => html.replaceAll('top.', 'window.'));
  return `<!doctype html><script>window.noted = []</script>${inside('page').join('<br>')}
    <iframe srcdoc="${inside('frame').join('<br>').replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>
    <section></section><script>document.querySelector('section').attachShadow({ mode: 'open' }).setHTMLUnsafe(${JSON.stringify(shadow.join('<br>')).replaceAll('</', '<\\/')})</script>`;
}

async function perform(
  page: Page,
  url: string,
  { elements }: Story,
  { deed, on }: Story['deeds'][number],
  timeoutMs: number,
): Promise<unknown> {
  const index = on % elements.length;
  const root = elements[index]?.place === 'frame' ? page.frameLocator('iframe') : page;
  const target = root.locator(`#e${index}`);
  const timeout = { timeout: timeoutMs };
  if (deed === 'click') return await target.click(timeout);
  if (deed === 'dblclick') return await target.dblclick(timeout);
  if (deed === 'fill') return await target.fill('text', timeout);
  if (deed === 'check') return await target.check(timeout);
  if (deed === 'hover') return await target.hover(timeout);
  if (deed === 'press') return await target.press('End', timeout);
  if (deed === 'select') return await target.selectOption('two', timeout);
  if (deed === 'text') return await target.textContent(timeout);
  if (deed === 'visible') return await target.waitFor(timeout);
  if (deed === 'away') return (await page.goto(`${url}/?away`))?.status();
  if (deed === 'reload') return (await page.reload())?.status();
  return await page.evaluate('document.querySelectorAll("*").length > 2');
}

/** The result of each action of a story, and what the page recorded. */
interface Outcome {
  elements: Story['elements'];
  found: unknown[][];
}

/** The stable part of a failure's message, without the number of retries. */
function inShort(error: unknown): string {
  const [first = ''] = (error as Error).message.split('\n');
  return first;
}

test('gives the same results for random actions on random pages', async ({ bothWays, greeting }) => {
  test.setTimeout(60_000 + RUNS.numRuns * 120_000);
  const stories = fc.sample<Story>(story, RUNS);
  const compare = (some: Story[], boundOf: (one: Story, nth: number) => number) =>
    bothWays(async ({ browser, savings }) => {
      const outcomes: Outcome[] = [];
      for (const one of some) {
        const context = await browser.newContext();
        const page = await context.newPage();
        await context.route('**/story', (route) => route.fulfill({ body: pageOf(one), contentType: 'text/html' }));
        await page.goto(`${greeting}/story`);
        const found: unknown[][] = [];
        for (const [nth, next] of one.deeds.entries()) {
          found.push([next.deed, await perform(page, greeting, one, next, boundOf(one, nth)).catch(inShort)]);
        }
        found.push(['noted', await page.evaluate('window.noted ?? null'), page.url()]);
        outcomes.push({ elements: one.elements, found });
        await context.close();
      }
      return { outcomes, savedMs: savings.savedMs };
    });
  const { plain, ahead } = await compare(stories, () => ACTION_MS);
  expect(ahead.savedMs).toBeGreaterThan(0);
  const different = stories.filter((_, index) => !isDeepStrictEqual(plain.outcomes[index], ahead.outcomes[index]));
  if (different.length === 0) return;
  const isLate = (outcomes: Outcome[], story: Story, nth: number) =>
    /^\S+: Timeout /.test(String(outcomes[stories.indexOf(story)]?.found[nth]?.[1]));
  const patient = await compare(different, (one, nth) =>
    isLate(plain.outcomes, one, nth) && isLate(ahead.outcomes, one, nth) ? ACTION_MS : PATIENT_MS,
  );
  expect(patient.ahead.outcomes).toEqual(patient.plain.outcomes);
});
