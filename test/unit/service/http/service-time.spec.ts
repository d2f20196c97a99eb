import { ServiceClient } from '../../../../src/service/index.ts';
import { API_KEY, expect, json, test } from '../../../support/unit/http-service.ts';

test("uses the service's clock after the first response", async ({ service }) => {
  const client = new ServiceClient({ baseURL: service.baseURL, apiKey: API_KEY });
  try {
    const near = (time: number) => expect(Math.abs(client.now() - time)).toBeLessThan(30_000);
    near(Date.now());
    const ahead = Date.now() + 7_200_000;
    service.handle(json(200, { sessions: [] }, { date: new Date(ahead).toUTCString() }));
    await client.listSessions();
    near(ahead);
    service.handle((request, response) => {
      response.sendDate = false;
      return json(200, { sessions: [] })(request, response);
    });
    await client.listSessions();
    near(ahead); // one that does not say changes nothing
  } finally {
    await client.close();
  }
});
