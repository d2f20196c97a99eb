import { ServiceClient } from '../../../src/service/index.ts';
import { API_KEY, expect, json, test } from './harness.ts';

const busy = json(503, { error: 'No eligible node found', code: 'browser_capacity_unavailable' });

test.describe('sharedBackoff', () => {
  test('many creates that meet a 503 ask again one by one, not all at once', async ({ service }) => {
    const WORKERS = 12;
    let down = true;
    let most = 0;
    let underway = 0;
    let refusals = 0;
    const seenAfter: number[] = [];
    service.handle(async (request, response) => {
      underway += 1;
      if (!down) most = Math.max(most, underway);
      await new Promise((resolve) => setTimeout(resolve, 20));
      underway -= 1;
      if (down) {
        refusals += 1;
        await busy(request, response);
        return;
      }
      seenAfter.push(Date.now());
      const note = (request.body as { note: string }).note;
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
    const creates = Array.from({ length: WORKERS }, (_, n) => client.createSession({ note: `n${n}` }));
    await expect.poll(() => refusals).toBe(WORKERS);
    down = false;
    const sessions = await Promise.all(creates);
    expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(WORKERS);
    // Everyone asked twice: once before anybody knew, once in turn. The first came alone.
    expect(service.seen).toHaveLength(2 * WORKERS);
    const [first = 0, second = 0] = seenAfter;
    expect(second - first).toBeGreaterThanOrEqual(15);
    expect(most).toBeLessThan(WORKERS);
    await client.close();
  });
});
