import fc from 'fast-check';
import { CREATE_RULES, wrongFields } from '../../models/emulator/create-rules.ts';
import { Api } from '../../support/emulator/api.ts';
import { test as base, expect } from '../../support/emulator/fixtures.ts';
import { startEmulatorProcess } from '../../support/emulator-process.ts';
import { isRunning } from '../../support/processes.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { createBodies, goodBodies } from './create-bodies.ts';

/**
 * Section 4.2 of the service document, and 404 as section 7 requires for dedicated addresses. No body may get a 500.
 */
const DOCUMENTED = [200, 400, 401, 402, 403, 404, 429, 503, 504];
const RUNS = propertyRuns(300);

interface Target {
  api: Api;
  post: (body: string | Uint8Array, contentType?: string) => Promise<{ status: number; body: Answer }>;
}

interface Answer {
  error?: string;
  sessionId?: string;
}

/** An emulator in a separate process: if it crashes, the test notices and survives. */
const test = base.extend<{ target: Target }>({
  target: async ({}, use) => {
    const { baseURL, apiKey, pid, stop } = await startEmulatorProcess({
      browser: 'stub',
      servedBy: ['n1', 'n2'],
      concurrentBrowsers: 5,
    });
    const api = new Api(baseURL, apiKey);
    await use({
      api,
      post: async (body, contentType = 'application/json') => {
        const response = await fetch(`${baseURL}/v1/browser/session`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': contentType },
          body: body as string,
        });
        return { status: response.status, body: (await response.json()) as Answer };
      },
    });
    expect(isRunning(pid)).toBe(true);
    const { status, body } = await api.create({ note: 'afterwards' });
    expect([status, body.note]).toEqual([200, 'afterwards']);
    await stop();
  },
});

test.slow();

test('responds to any create body with 200 or a documented refusal', async ({ target }) => {
  const seen = new Map<number, number>();
  const property = fc.asyncProperty(createBodies, async (text) => {
    const { status, body } = await target.post(text);
    seen.set(status, (seen.get(status) ?? 0) + 1);
    if (body.sessionId) expect((await target.api.stop(body.sessionId)).status).toBe(200);
    expect(DOCUMENTED).toContain(status);
    if (status !== 200) expect(typeof body.error).toBe('string');
    expectVerdict(text, status, body);
  });
  await fc.assert(property, RUNS);
  // Otherwise the property has not tested one of the two responses.
  expect(seen.get(200)).toBeGreaterThan(RUNS.numRuns / 10);
  expect(seen.get(400)).toBeGreaterThan(RUNS.numRuns / 3);
  expect(await target.api.active()).toEqual([]);
});

/** Expects the response that the document requires for this body. Allowed fields may contradict each other. */
function expectVerdict(text: string, status: number, { error = '' }: Answer): void {
  const value = parse(text);
  if (value === NO_JSON) {
    expect([status, error]).toEqual([400, expect.stringMatching(/JSON/)]);
    return;
  }
  const wrong = wrongFields(value);
  if (wrong === null) expect(status).toBe(400);
  else if (wrong.length > 0) {
    expect([status, wrong]).toEqual([400, wrong]);
    for (const name of wrong) expect(error).toContain(CREATE_RULES.has(name) ? name : 'unknown field');
  } else if (status === 400) {
    expect([...CREATE_RULES.keys()]).toContain(error.split(':')[0]);
  }
}

const NO_JSON = Symbol('no JSON');

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NO_JSON;
  }
}

test('a body that is not complete JSON is a 400 in JSON', async ({ target }) => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
  const truncated = fc
    .tuple(goodBodies, fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([text, share]) => new TextEncoder().encode(text.slice(0, Math.floor(share * text.length))))
    .filter((half) => half.length > 0);
  const property = fc.asyncProperty(fc.oneof(bytes, truncated), async (body) => {
    fc.pre(parse(new TextDecoder().decode(body)) === NO_JSON);
    const answer = await target.post(body);
    expect(answer).toEqual({ status: 400, body: { error: expect.stringMatching(/JSON/) } });
  });
  await fc.assert(property, propertyRuns(150));
});

test('a body of another content type never counts as empty', async ({ target }) => {
  const token = fc.stringMatching(/^[a-zA-Z0-9.+-]{1,12}$/);
  const contentType = fc.oneof(
    fc.tuple(token, token).map(([type, subtype]) => `${type}/${subtype}`),
    token.map((subtype) => `application/${subtype}+json`),
    token.map((rest) => `application/json${rest}`),
    fc.stringMatching(/^[ -~]{0,12}$/).map((rest) => `application/json;${rest}`),
    fc.constantFrom('text/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'),
  );
  // Whether the emulator reads such a body or not, it must reject it: 200 means that it was ignored.
  const property = fc.asyncProperty(contentType, async (type) => {
    const { status, body } = await target.post('{"colour":"red"}', type);
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^colour: unknown field$|JSON/)]);
  });
  await fc.assert(property, propertyRuns(150));
});

test('any body of two megabytes is a 400 in JSON', async ({ target }) => {
  const bytes = 2 * 1024 ** 2;
  for (const text of [
    'x'.repeat(bytes),
    JSON.stringify({ note: 'x'.repeat(bytes) }),
    '{}'.padEnd(bytes),
    '['.repeat(bytes),
  ]) {
    const { status, body } = await target.post(text);
    expect([status, typeof body.error]).toEqual([400, 'string']);
    // The error does not repeat the rejected body.
    expect(body.error?.length).toBeLessThan(1000);
  }
  const stranger = new Api(target.api.baseURL, 'nobody');
  expect((await stranger.create({ note: 'x'.repeat(bytes) })).status).toBe(401);
});
