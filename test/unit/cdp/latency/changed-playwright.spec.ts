import { expect, test } from '@playwright/test';
import { BackForwardCache } from '../../../../src/cdp/contexts/back-forward-cache.ts';
import { PipelinedReads } from '../../../../src/cdp/latency/reads/pipelined-reads.ts';
import { aLink } from '../../../support/unit/cdp/a-link.ts';
import { Call, ChangingPage, UTILITY } from './changing-page.ts';

/** What happens when Playwright's own texts and messages change: everything goes the ordinary way. */

/** Playwright's functions in an action, as of 1.65. */
const KNOWN = {
  query: '(injected, { info }) => { return injected.query(info); }',
  log: '(r) => ({ log: r.log, success: r.success })',
  element: '(r) => r.element',
  state: "([injected, node]) => injected.elementState(node, 'checked')",
  world: '__playwright_utility_world__',
};

/** The same in words that this version of poolwright does not know. */
const CHANGED = {
  query: '(lib, spec) => lib.lookUp(spec)',
  log: 'function report(found) { return { entries: found.entries } }',
  element: 'function unwrap(found) { return found.node; }',
  state: 'function stateOf({ lib, node }) { return lib.stateOf(node, "checked"); }',
  world: 'another_world',
};

/** The same action some times. Resolves with how many commands the browser got, and how much waiting was saved. */
async function act({ query, log, element, state, world }: typeof KNOWN) {
  const page = new ChangingPage([(transport, savings) => new PipelinedReads(transport, savings)]);
  page.open(world);
  const finished = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    void work.finally(() => {
      isOver = true;
    });
    for (let step = 0; !isOver; step += 1) {
      expect(step, 'each command gets its response').toBeLessThan(1_000);
      page.evaluate();
      page.arrive();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return await work;
  };
  const actions = async () => {
    for (let round = 0; round < 5; round += 1) {
      const call = new Call(page);
      const scripts = await call.send('Runtime.evaluate', { expression: 'class Scripts {}', contextId: UTILITY });
      const utility = { objectId: scripts.result?.objectId ?? '' };
      const run = '(utilityScript, ...args) => utilityScript.evaluate(...args)';
      const found = { objectId: await call.object(run, utility, utility, { value: query }, { value: '#one' }) };
      await call.value(run, utility, utility, { value: log }, found);
      const node = { objectId: await call.object(run, utility, utility, { value: element }, found) };
      await call.value(run, utility, utility, { value: state }, node);
    }
  };
  await finished(actions());
  return { stale: page.stale, savedMs: page.savings.savedMs };
}

test('reads that are recognized are sent ahead', async () => {
  const { stale, savedMs } = await act(KNOWN);
  expect(stale).toEqual([]);
  expect(savedMs).toBeGreaterThan(0);
});

test('reads in other words go the ordinary way, with every response', async () => {
  expect(await act(CHANGED)).toEqual({ stale: [], savedMs: 0 });
});

test('reads in a world with another name are recognized all the same', async () => {
  expect((await act({ ...KNOWN, world: CHANGED.world })).savedMs).toBeGreaterThan(0);
});

test('back/forward cache: a script and a navigation in another form pass unchanged', () => {
  const link = aLink((transport) => new BackForwardCache(transport));
  const script = { method: 'Page.addScriptToEvaluateOnNewDocument', params: { source: 'playwright()' } };
  const command = { id: 1, ...script, sessionId: 'page' };
  link.attach('page', 'page');
  link.list.command(command);
  expect(link.toBrowser).toContainEqual(expect.objectContaining(script));
  const interceptor = new BackForwardCache(link.link);
  const event = { method: 'Page.frameNavigated', params: { type: 'AnotherKind', frame: { id: 'f', loaderId: 'l' } } };
  expect(interceptor.onMessage(event)).toBe(event);
});
