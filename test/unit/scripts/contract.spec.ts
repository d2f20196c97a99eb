import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compareContract } from '../../../scripts/contract/contract.ts';
import { ServiceClient } from '../../../src/service/index.ts';
import { test as base, expect } from '../../support/unit/cli/command-line.ts';

/** `scripts/contract.mjs`: the client against the service's own description. */

/* biome-ignore lint/suspicious/noExplicitAny: a description, to be changed at will */
type Description = any;

/** Compares the client with a changed description of the emulator. */
type Against = (change: (doc: Description) => unknown) => ReturnType<typeof compareContract>;

const test = base.extend<{ against: Against }>({
  against: async ({ service }, use) => {
    let doc: unknown;
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(doc));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = new ServiceClient({ baseURL: `http://127.0.0.1:${port}`, apiKey: service.emulator.apiKey });
    const original = await (await fetch(`${service.emulator.baseURL}/doc`)).text();
    await use(async (change) => {
      const changed = JSON.parse(original);
      doc = change(changed) ?? changed;
      return await compareContract(client);
    });
    await client.close();
    server.close();
  },
});

const at = (doc: Description, method: string, path: string) => doc.paths[path][method];
const bodyOf = (operation: Description) => operation.requestBody.content['application/json'].schema;
const responseOf = (operation: Description) => operation.responses['200'].content['application/json'].schema;
const SESSION = '/v1/browser/session';
/** The service silently truncates a larger page. */
const PAGE =
  'ours: GET /v1/browser/sessions: query "pageSize": poolwright accepts at most 100, the service has no such limit';

test('finds one difference between the client and the emulator', async ({ service }) => {
  expect(await compareContract(service.client)).toEqual([PAGE]);
});

test('names the differences that break calls', async ({ against }) => {
  const differences = await against((doc) => {
    const create = at(doc, 'post', SESSION);
    delete bodyOf(create).properties.adblock;
    bodyOf(create).properties.country.type = 'integer';
    bodyOf(create).properties.type.enum = ['hosted', 'hosted_new'];
    bodyOf(create).properties.note.maxLength = 100;
    bodyOf(create).properties.region = { type: 'string' };
    bodyOf(create).required = ['region', 'url'];
    responseOf(create).properties.status = { type: 'integer' };
    delete responseOf(create).properties.sessionId;
    at(doc, 'get', SESSION).parameters.push({ name: 'tenant', in: 'query', required: true, schema: {} });
    delete doc.paths['/v1/network/ips'];
  });
  expect(differences).toEqual(
    [
      `breaks: GET ${SESSION}: query "tenant" is required`,
      'breaks: GET /v1/network/ips: the service does not describe this endpoint',
      `breaks: POST ${SESSION}: response.sessionId is missing in the description, but poolwright needs it`,
      `breaks: POST ${SESSION}: response.status: the service may respond with integer, we read string`,
      `breaks: POST ${SESSION}: body.adblock is unknown to the service, which rejects it`,
      `breaks: POST ${SESSION}: body.country: we may send string, the service takes integer`,
      `breaks: POST ${SESSION}: body.note: poolwright accepts at most 256, the service at most 100`,
      `breaks: POST ${SESSION}: body.region is required, but poolwright may omit it`,
      `breaks: POST ${SESSION}: body.type: the service does not accept hosted_stealth, hosted_privacy`,
      `breaks: POST ${SESSION}: body.url is required, but poolwright may omit it`,
      PAGE,
      `theirs: POST ${SESSION}: body.type: hosted_new cannot be sent by poolwright`,
    ].sort(),
  );
});

test('names the differences that break no call', async ({ against }) => {
  const differences = await against((doc) => {
    const create = at(doc, 'post', SESSION);
    bodyOf(create).properties.region = { type: 'string' };
    responseOf(create).properties.region = { type: 'string' };
    delete responseOf(create).properties.servedBy;
    responseOf(create).required = ['status'];
    bodyOf(create).properties.note.maxLength = 500;
    doc.paths['/v1/browser/shots'] = { get: { responses: {} } };
  });
  expect(differences).toEqual(
    [
      `differs: POST ${SESSION}: response.sessionId may be absent, but poolwright needs it`,
      `differs: POST ${SESSION}: body.note: poolwright accepts at most 256, the service at most 500`,
      PAGE,
      `ours: POST ${SESSION}: response.servedBy is missing in the description`,
      `theirs: POST ${SESSION}: response.region is missing in poolwright's types`,
      `theirs: POST ${SESSION}: body.region cannot be sent by poolwright`,
      'theirs: GET /v1/browser/shots: the client has no method for this endpoint',
    ].sort(),
  );
});

test('accepts corrections, other OpenAPI versions and equivalent schemas', async ({ against }) => {
  const differences = await against((doc) => {
    const create = at(doc, 'post', SESSION);
    Object.assign(bodyOf(create).properties.duration, { minimum: 60, exclusiveMinimum: true });
    responseOf(at(doc, 'get', '/v1/account/balance')).properties.balance_cents.minimum = 0;
    // OpenAPI 3.1 has null as a type, and parts of schemas may be elsewhere.
    doc.openapi = '3.1.0';
    responseOf(create).properties.note = { anyOf: [{ type: 'string' }, { type: 'null' }] };
    responseOf(create).properties.cdpUrl = { type: ['string', 'null'] };
    doc.components.schemas = { ...doc.components.schemas, Session: responseOf(create) };
    create.responses['200'].content['application/json'].schema = {
      allOf: [{ $ref: '#/components/schemas/Session' }, { type: 'object' }],
    };
    // Names in paths may differ between the two sides, and the version may be in the server's address.
    const entries = Object.entries(doc.paths).map(([path, item]) => [
      path.replace('/v1/', '/').replace('{poolId}', '{id}'),
      item,
    ]);
    doc.paths = Object.fromEntries(entries);
    doc.servers = [{ url: 'https://service.example/v1' }];
  });
  expect(differences).toEqual([PAGE]);
});

test('names the request when the description is invalid or the service is unreachable', async ({
  against,
  service,
}) => {
  await expect(against(() => ({ hello: 'world' }))).rejects.toThrow(/GET \/doc[\s\S]*paths/);
  await service.emulator.stop();
  await expect(compareContract(service.client)).rejects.toThrow('127.0.0.1');
});
