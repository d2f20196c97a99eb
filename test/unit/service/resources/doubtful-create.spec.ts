import { ServiceError } from '../../../../src/errors.ts';
import { expect, failureOf, hangUp, json, sessionBody, test, text } from '../../../support/unit/http-service.ts';

/** A create that may have had an effect reports that, whatever its result: the ledger needs to know. */

const nothingListed = json(200, { sessions: [] });
const busy = json(503, { error: 'No eligible node found', code: 'browser_capacity_unavailable' });

test('reports an unknown outcome after a reset, even if the last failure alone would not', async ({
  service,
  connect,
}) => {
  let creates = 0;
  service.handle((request, response) => {
    if (request.method !== 'POST')
      return (creates === 1 ? nothingListed : json(400, { error: 'no list' }))(request, response);
    creates += 1;
    return (creates === 1 ? hangUp : busy)(request, response);
  });
  let doubts = 0;
  const failure = await failureOf(
    connect().client.createSession({ note: 'unique' }, { onDoubt: () => (doubts += 1) }),
    ServiceError,
  );
  expect(failure).toMatchObject({ status: 503, message: expect.stringContaining('may be running all the same') });
  expect(doubts).toBe(1);
});

test('keeps the outcome unknown after a later success, because a duplicate may exist', async ({ service, connect }) => {
  let creates = 0;
  service.handle((request, response) => {
    if (request.method !== 'POST') return nothingListed(request, response);
    creates += 1;
    return (creates === 1 ? text(502, 'Bad Gateway') : json(200, sessionBody('s-1')))(request, response);
  });
  let doubts = 0;
  await connect().client.createSession({ note: 'unique' }, { onDoubt: () => (doubts += 1) });
  expect(doubts).toBe(1);
});

test('a refusal has a known outcome', async ({ service, connect }) => {
  service.script(busy, json(504, { error: 'not ready' }), json(200, sessionBody('s-1')));
  let doubts = 0;
  await connect().client.createSession({ note: 'unique' }, { onDoubt: () => (doubts += 1) });
  expect(doubts).toBe(0);
});
