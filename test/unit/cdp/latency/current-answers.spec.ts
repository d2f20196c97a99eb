import assert from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { PuppeteerReads } from '../../../../src/cdp/latency/puppeteer/reads/puppeteer-reads.ts';
import { PipelinedReads } from '../../../../src/cdp/latency/reads/pipelined-reads.ts';
import { PipelinedScripts } from '../../../../src/cdp/latency/scripts/pipelined-scripts.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import {
  PUPPETEER_DOCUMENT as DOCUMENT,
  PUPPETEER_QUERY as QUERY,
  PUPPETEER_READS as READS,
} from '../../../support/unit/cdp/puppeteer-functions.ts';
import { Call, ChangingPage, MAIN, SELECTORS, UTILITY } from './changing-page.ts';

/**
 * What answers a call was evaluated after the client had sent the first command of that call. A page changes at every
 * moment, except which node an object is; a client waits at every moment or not at all; and each answer tells when it
 * was evaluated. The clients' calls
 * are sequences of commands as Puppeteer 24 and Playwright 1.65 send them.
 */

const RUNS = propertyRuns(4_000, 400);
const INPUT = ['mouseMoved', 'mousePressed', 'mouseReleased'];

/** What a test can call, by name. */
type Calls = Record<string, (call: Call) => Promise<unknown>>;

/** An element that the test has found. */
interface Handle {
  readonly objectId: string;
  /** The same element in the client's own world, once a call has needed it. */
  isolated?: string;
}

async function press(call: Call): Promise<void> {
  await Promise.all(INPUT.map((type) => call.send('Input.dispatchMouseEvent', { type, x: 1, y: 1 })));
}

function puppeteerCalls(): Calls {
  let document: Promise<Handle> | undefined;
  let found: Handle | undefined;
  const isolated = { executionContextId: UTILITY };
  const move = async (call: Call, handle: Handle) => {
    handle.isolated ??= await call.move(handle.objectId, UTILITY);
    return { objectId: handle.isolated };
  };
  const transfer = async (call: Call, objectId: string) => {
    const handle = { objectId: await call.move(objectId, MAIN) };
    void call.send('Runtime.releaseObject', { objectId });
    return handle;
  };
  const root = async (call: Call) => {
    document ??= call.object(DOCUMENT, { executionContextId: MAIN }).then((objectId) => ({ objectId }));
    return await move(call, await document);
  };
  const find = async (call: Call, selector: string) => {
    const element = await call.object(QUERY, isolated, await root(call), { value: selector });
    return await transfer(call, element);
  };
  const isVisible = async (call: Call, element: object, threshold: number) => {
    await call.value(READS.connected, isolated, element);
    await call.value(READS.svg, isolated, element);
    await call.value(READS.visible, isolated, element, { value: threshold });
  };
  const point = async (call: Call, element: object) => {
    await call.value(READS.box, isolated, element);
    await call.value(READS.viewport, isolated);
  };
  const click = async (call: Call, element: object) => {
    await isVisible(call, element, 1);
    await point(call, element);
    await press(call);
  };
  const handle = async (call: Call) => {
    found ??= await find(call, '#one');
    return found;
  };
  const calls: Calls = {
    'handle.click': async (call) => await click(call, await move(call, await handle(call))),
    clickablePoint: async (call) => await point(call, await move(call, await handle(call))),
    isIntersectingViewport: async (call) => await isVisible(call, await move(call, await handle(call)), 0),
    'isIntersectingViewport wholly': async (call) => await isVisible(call, await move(call, await handle(call)), 1),
    contentFrame: async (call) => await call.send('DOM.describeNode', { objectId: (await handle(call)).objectId }),
    // Its argument is wrong, which it finds out after the handle has moved.
    'select(5)': async (call) => await move(call, await handle(call)),
    focus: async (call) =>
      await call.value('element => element.focus()', isolated, await move(call, await handle(call))),
    evaluate: async (call) => await call.value('() => 6 * 7', { executionContextId: MAIN }),
    dispose: async (call) => {
      if (found) await call.send('Runtime.releaseObject', { objectId: found.objectId });
      found = undefined;
    },
    // Its argument is wrong, which it finds out after the document has moved.
    '$(5)': root,
  };
  for (const selector of SELECTORS) {
    calls[`$ ${selector}`] = async (call) => {
      found = await find(call, selector);
    };
    calls[`page.click ${selector}`] = async (call) => {
      await click(call, await move(call, await find(call, selector)));
    };
    calls[`$eval ${selector}`] = async (call) => {
      const { objectId } = await find(call, selector);
      await call.value('(element) => element.title', { executionContextId: MAIN }, { objectId });
    };
    calls[`waitForSelector ${selector}`] = async (call) => {
      const poller = {
        objectId: await call.object('(Poller, selector) => new Poller()', isolated, { value: selector }),
      };
      await call.value(READS.start, isolated, poller);
      const element = await call.object(READS.result, isolated, poller);
      void call.value('async (poller) => { await poller.stop(); }', isolated, poller);
      found = await transfer(call, element);
    };
  }
  return calls;
}

function playwrightCalls(): Calls {
  let scripts: Promise<string> | undefined;
  let found: Handle | undefined;
  const evaluate = async (call: Call, isValue: boolean, text: string, ...args: object[]) => {
    scripts ??= call
      .send('Runtime.evaluate', { expression: 'class UtilityScript {}', contextId: UTILITY })
      .then(({ result }) => result?.objectId ?? '');
    const utility = { objectId: await scripts };
    const run = '(utilityScript, ...args) => utilityScript.evaluate(...args)';
    if (!isValue) return await call.object(run, utility, utility, { value: text }, ...args);
    await call.value(run, utility, utility, { value: text }, ...args);
    return '';
  };
  const find = async (call: Call, selector: string) => {
    const query = '(injected, { info }) => { return injected.query(info); }';
    const objectId = await evaluate(call, false, query, { value: selector });
    await evaluate(call, true, '(r) => ({ log: r.log, success: r.success })', { objectId });
    return { objectId: await evaluate(call, false, '(r) => r.element', { objectId }) };
  };
  const states = 'async ([injected, node, { states }]) => { return await injected.checkElementStates(node, states); }';
  const act = async (call: Call, element: { objectId: string }) => {
    await Promise.all([
      evaluate(call, true, '(injected, element) => "JSHandle@" + injected.previewNode(element)', element),
      evaluate(call, true, states, element),
    ]);
    await call.send('DOM.scrollIntoViewIfNeeded', element);
    await Promise.all([
      call.send('DOM.getContentQuads', element),
      evaluate(call, true, '() => ({ width: innerWidth, height: innerHeight })'),
    ]);
    const hits = { objectId: await evaluate(call, false, '([injected]) => { return injected.setUpHits(); }', element) };
    await press(call);
    await evaluate(call, true, '(hits) => hits.stop()', hits);
    await call.send('Page.enable', {});
  };
  const handle = async (call: Call) => {
    found ??= { objectId: await call.move((await find(call, '#one')).objectId, MAIN) };
    return found;
  };
  const calls: Calls = {
    'handle.click': async (call) =>
      await act(call, { objectId: await call.move((await handle(call)).objectId, UTILITY) }),
    'handle.isVisible': async (call) => {
      const objectId = await call.move((await handle(call)).objectId, UTILITY);
      await evaluate(call, true, "([injected, node]) => injected.elementState(node, 'visible')", { objectId });
    },
    evaluate: async (call) => await call.value('() => 6 * 7', { executionContextId: MAIN }),
  };
  for (const selector of SELECTORS) {
    calls[`$ ${selector}`] = async (call) => {
      found = { objectId: await call.move((await find(call, selector)).objectId, MAIN) };
    };
    calls[`click ${selector}`] = async (call) => await act(call, await find(call, selector));
    // It fails because of the states: the element is disabled.
    calls[`fails ${selector}`] = async (call) => await evaluate(call, true, states, await find(call, selector));
    calls[`textContent ${selector}`] = async (call) => {
      await evaluate(call, true, '(injected, { info }) => { return injected.query(info).text; }', { value: selector });
    };
  }
  return calls;
}

const CLIENTS = {
  Puppeteer: {
    world: '__puppeteer_utility_world__24',
    calls: puppeteerCalls,
    interceptors: [(...given: ConstructorParameters<typeof PuppeteerReads>) => new PuppeteerReads(...given)],
  },
  // Also in the relay.
  Playwright: {
    world: '__playwright_utility_world',
    calls: playwrightCalls,
    interceptors: [
      (...given: ConstructorParameters<typeof PipelinedScripts>) => new PipelinedScripts(...given),
      (...given: ConstructorParameters<typeof PipelinedReads>) => new PipelinedReads(...given),
    ],
  },
};

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

for (const [name, { world, calls, interceptors }] of Object.entries(CLIENTS)) {
  test(`no answer to a call of ${name} is from before the call`, async () => {
    const names = Object.keys(calls());
    const step = (some: string[]) =>
      fc.record({
        call: fc.constantFrom(...some),
        /** Another one at the same time. */
        other: fc.option(fc.constantFrom(...some), { freq: 1 }),
        /** How long the test waits before the next one; 0: not at all, not even for a turn of its event loop. */
        wait: fc.nat({ max: 3 }),
      });
    // Some calls, often with one that finds an element, again and again: what follows what is learned.
    const isFinder = (call: string) => /^(?:\$|waitForSelector) /.test(call);
    const finder = fc.constantFrom([], ...names.filter(isFinder).map((call) => [call]));
    const others = names.filter((call) => !isFinder(call));
    const story = fc
      .tuple(finder, fc.shuffledSubarray(others, { minLength: 2, maxLength: 2 }))
      .chain(([first, some]) => fc.array(step([...first, ...some]), { minLength: 8, maxLength: 16 }));
    const moves = fc.infiniteStream(fc.constantFrom('evaluate', 'evaluate', 'arrive', 'arrive', 'wake'));
    let savedMs = 0;
    await fc.assert(
      fc.asyncProperty(story, moves, async (steps, moving) => {
        const page = new ChangingPage(interceptors);
        page.open(world);
        const all = calls();
        let wake = () => {};
        const waking = () =>
          new Promise<void>((resolve) => {
            wake = resolve;
          });
        const test = (async () => {
          for (const { call, other, wait } of steps) {
            const called = [call, ...(other ? [other] : [])];
            await Promise.all(called.map((each) => all[each]?.(new Call(page))));
            for (let count = 0; count < wait; count += 1) await waking();
          }
          return true;
        })();
        for (let isOver = false; !isOver; isOver = await Promise.race([test, turn().then(() => false)])) {
          const move = moving.next().value;
          if (move === 'evaluate') page.evaluate();
          if (move === 'arrive') page.arrive();
          if (move === 'wake') wake();
        }
        savedMs += page.savings.savedMs;
        assert.deepEqual(page.stale, []);
      }),
      RUNS,
    );
    expect(savedMs).toBeGreaterThan(0);
  });
}
