import assert from 'node:assert';
import fc from 'fast-check';
import { expect, test } from '../../support/cdp/auto-fixtures.ts';
import { fullLength, propertyRuns, slowIf } from '../../support/property-runs.ts';

/** The cause of a request does not depend on its body. Under `'auto'`, only requests with a known cause are proxied. */

const MB = 1_000_000;
/** Bodies of a size, as expressions in a page. Binary ones are largest in CDP's messages. */
const BODIES: Record<string, string> = {
  bytes: 'new Uint8Array(SIZE).fill(200)',
  text: `'ä'.repeat(SIZE / 2)`,
  blob: 'new Blob([new Uint8Array(SIZE).fill(0)])',
  form: `(() => { const form = new FormData(); form.append('a', new Blob([new Uint8Array(SIZE).fill(7)])); return form; })()`,
};
const WAYS: Record<string, string> = {
  fetch: `fetch('/size', { method: 'POST', body: BODY }).then((answer) => answer.text(), String)`,
  'fetch of a sandboxed frame': `new Promise((resolve) => {
    onmessage = ({ data }) => resolve(data);
    const script = "fetch('" + location.origin + "/size', { method: 'POST', mode: 'no-cors', body: BODY }).then(() => parent.postMessage('sent', '*'), (error) => parent.postMessage(String(error), '*'))";
    document.body.append(Object.assign(document.createElement('iframe'), { sandbox: 'allow-scripts', srcdoc: '<script>' + script + '</' + 'script>' }));
  })`,
  XMLHttpRequest: `new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.onloadend = () => resolve(request.responseText);
    request.open('PUT', '/size');
    request.send(BODY);
  })`,
  'XMLHttpRequest without waiting': `(() => {
    const request = new XMLHttpRequest();
    request.open('POST', '/size', false);
    request.send(BODY);
    return request.responseText;
  })()`,
  worker: `new Promise((resolve) => {
    const send = "fetch('" + location.origin + "/size', { method: 'POST', body: BODY }).then((answer) => answer.text(), String).then(postMessage)";
    new Worker(URL.createObjectURL(new Blob([send]))).onmessage = ({ data }) => resolve(data);
  })`,
};
const RUNS = propertyRuns(40, 8);

test('proxies an upload whatever its body, its size and its API', async ({ newContext, own, denied }) => {
  test.setTimeout(60_000 + 20_000 * RUNS.numRuns);
  const page = await (await newContext()).newPage();
  await page.goto(own.url);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(BODIES)),
      fc.constantFrom(...Object.keys(WAYS)),
      fc.constantFrom(0, 2, 64 * 1024, MB, 4 * MB, ...fullLength([12 * MB], [])),
      async (body, way, size) => {
        own.requests.length = 0;
        const source = (BODIES[body] ?? '').replaceAll('SIZE', String(size));
        await page.evaluate((WAYS[way] ?? '').replaceAll('BODY', () => source));
        assert.deepEqual(denied, [], `${way} of ${body}, ${size} bytes`);
        const received = own.seen('/size')?.body.length ?? -1;
        assert.ok(
          body === 'form' ? received > size : received === size,
          `${way} of ${body}: ${received} of ${size} bytes`,
        );
      },
    ),
    RUNS,
  );
});

test('proxies an upload of many megabytes', slowIf(true), async ({ newContext, own, denied }) => {
  const page = await (await newContext()).newPage();
  await page.goto(own.url);
  const size = 12 * MB;
  const body = `new Uint8Array(${size}).fill(200)`;
  for (const way of ['fetch', 'fetch of a sandboxed frame']) {
    own.requests.length = 0;
    const answer: unknown = await page.evaluate((WAYS[way] ?? '').replaceAll('BODY', body));
    expect(denied, `${way}: ${String(answer)}`).toEqual([]);
    expect(own.seen('/size')?.body.length, `${way}: ${String(answer)}`).toBe(size);
  }
});
