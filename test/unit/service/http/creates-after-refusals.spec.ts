import { setTimeout as delay } from 'node:timers/promises';
import { ServiceClient } from '../../../../src/service/index.ts';
import { API_KEY, expect, json, test } from '../../../support/unit/http-service.ts';

const busy = json(503, { error: 'No eligible node found', code: 'browser_capacity_unavailable' });

test('creates that met a 503 together ask again one alone, then two, four, eight at a time', async ({ service }) => {
  const WORKERS = 12;
  let refused = 0;
  let underway = 0;
  let served = 0;
  const tooMany: string[] = [];
  const waiting: (() => void)[] = [];
  service.handle(async (request, response) => {
    if (refused < WORKERS) {
      // All at once: none of them knows yet of another's refusal.
      refused += 1;
      waiting.push(() => busy(request, response));
      if (refused === WORKERS) for (const refuse of waiting) refuse();
      return;
    }
    underway += 1;
    // Each success that the client has seen doubles how many may ask; it cannot have seen more than were served.
    if (underway > 2 ** served) tooMany.push(`${underway} at once after ${served} served`);
    await delay(20); // time in which others would come, if they were let go
    underway -= 1;
    served += 1;
    const { note } = request.body as { note: string };
    await json(200, {
      sessionId: `s-${note}`,
      status: 'active',
      servedBy: 'node-1',
      createdAt: new Date().toISOString(),
      stoppedAt: null,
      cdpUrl: 'ws://127.0.0.1:1/cdp',
      note,
    })(request, response);
  });
  const client = new ServiceClient({
    baseURL: service.baseURL,
    apiKey: API_KEY,
    sharedBackoff: true,
    random: () => 0,
  });
  const sessions = await Promise.all(
    Array.from({ length: WORKERS }, (_, n) => client.createSession({ note: `n${n}` })),
  );
  expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(WORKERS);
  // Everyone asked twice: once before anybody knew, once in turn.
  expect(service.seen).toHaveLength(2 * WORKERS);
  expect(tooMany).toEqual([]);
  await client.close();
});
