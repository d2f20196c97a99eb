import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test as base, expect, poolwright } from '../../../support/unit/cli/command-line.ts';

/* biome-ignore lint/suspicious/noExplicitAny: a description, to be changed at will */
type Description = any;

/** Returns the output of `doctor --contract` for a modified description of the emulator. */
type Against = (
  change: (doc: Description) => unknown,
) => Promise<{ code: number; differences: string[]; text: string }>;

const test = base.extend<{ against: Against }>({
  against: async ({ service }, use) => {
    let doc: unknown;
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(doc));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const original = await (await fetch(`${service.emulator.baseURL}/doc`)).text();
    await use(async (change) => {
      const changed = JSON.parse(original);
      doc = change(changed) ?? changed;
      const env = { ...service.env, POOLWRIGHT_BASE_URL: `http://127.0.0.1:${port}` };
      const json = await poolwright(['doctor', '--contract', '--json'], env);
      const text = await poolwright(['doctor', '--contract'], env);
      expect(text.code).toBe(json.code);
      const { differences = [] } = JSON.parse(json.stdout);
      return {
        code: json.code,
        differences: differences.map(
          ({ kind, endpoint, says }: Record<string, string>) => `${kind}: ${endpoint}: ${says}`,
        ),
        text: text.stdout + text.stderr,
      };
    });
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

test('doctor --contract › finds no breaking difference between the client and the emulator', async ({ service }) => {
  const { code, stdout } = await poolwright(['doctor', '--contract', '--json'], service.env);
  const { endpoints, differences } = JSON.parse(stdout);
  expect(endpoints).toEqual({ ours: 23, theirs: 23 });
  expect(differences).toHaveLength(1);
  expect(code).toBe(0);
  const text = await poolwright(['doctor', '--contract'], service.env);
  expect(text.stdout).toBe(
    `Only in poolwright:\n  ${PAGE.slice('ours: '.length)}\n\n` +
      '23 endpoints compared with the 23 at /doc: 1 difference, which breaks no call\n',
  );
});

test('doctor --contract › exits 1 and names the differences that break calls', async ({ against }) => {
  const { code, differences, text } = await against((doc) => {
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
  expect(code).toBe(1);
  expect(differences.sort()).toEqual(
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
  expect(text).toContain('Incompatible with the service:');
  expect(text).toContain('10 of them break calls');
});

test('doctor --contract › exits 0 and names the differences that break no call', async ({ against }) => {
  const { code, differences } = await against((doc) => {
    const create = at(doc, 'post', SESSION);
    bodyOf(create).properties.region = { type: 'string' };
    responseOf(create).properties.region = { type: 'string' };
    delete responseOf(create).properties.servedBy;
    responseOf(create).required = ['status'];
    bodyOf(create).properties.note.maxLength = 500;
    doc.paths['/v1/browser/shots'] = { get: { responses: {} } };
  });
  expect(differences.sort()).toEqual(
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
  expect(code).toBe(0);
});

test('doctor --contract › accepts corrections, other OpenAPI versions and equivalent schemas', async ({ against }) => {
  const { code, differences } = await against((doc) => {
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
  expect(code).toBe(0);
});

test('doctor --contract › exits 1 when the description is invalid or the service is unreachable', async ({
  against,
  service,
}) => {
  const none = await against(() => ({ hello: 'world' }));
  expect(none.code).toBe(1);
  expect(none.text).toContain('GET /doc');
  expect(none.text).toContain('paths');
  await service.emulator.stop();
  const away = await poolwright(['doctor', '--contract'], service.env);
  expect(away.code).toBe(1);
  expect(away.stderr).toContain('127.0.0.1');
});
