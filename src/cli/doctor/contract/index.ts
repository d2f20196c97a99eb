import * as z from 'zod';
import { ENDPOINTS, type Endpoint, type ServiceClient } from '../../../service/index.ts';
import { printJson, printLine } from '../../print.ts';
import { compareRequest, compareResponse, compareValues, type Difference, type Say } from './compare-shapes.ts';
import { type ServiceEndpoint, serviceEndpoints } from './service-endpoints.ts';
import { type Shape, shapeOf } from './shape.ts';

/** Bound on fetching the description, in ms. */
const TIMEOUT_MS = 15_000;

const TITLES: readonly [kind: Difference['kind'], title: string][] = [
  ['breaks', 'Incompatible with the service:'],
  ['differs', 'May fail in some cases:'],
  ['ours', 'Only in poolwright:'],
  ['theirs', 'Only in the service:'],
];

/**
 * `doctor --contract`: compares the service's live description with what the client sends and reads.
 * @returns whether calls of the client would break
 */
export async function checkContract(client: ServiceClient, json: boolean | undefined): Promise<boolean> {
  const description = await client.getDescription({ timeout: TIMEOUT_MS });
  const theirs = serviceEndpoints(description);
  const differences = compare(ENDPOINTS, theirs);
  const count = (kind: Difference['kind']) => differences.filter((each) => each.kind === kind).length;
  if (json) {
    printJson({ endpoints: { ours: ENDPOINTS.length, theirs: theirs.length }, differences });
    return count('breaks') > 0;
  }
  for (const [kind, title] of TITLES)
    print(
      title,
      differences.filter((each) => each.kind === kind),
    );
  const breaks = count('breaks');
  process.stdout.write(
    `${ENDPOINTS.length} endpoints compared with the ${theirs.length} at /doc: ${verdict(differences.length, breaks)}\n`,
  );
  return breaks > 0;
}

function verdict(all: number, breaks: number): string {
  if (all === 0) return 'no difference';
  const found = all === 1 ? '1 difference' : `${all} differences`;
  if (breaks > 0) return `${found}, ${breaks} of them break calls: update poolwright`;
  return `${found}, ${all === 1 ? 'which breaks no call' : 'none of which breaks a call'}`;
}

function print(title: string, differences: readonly Difference[]): void {
  if (differences.length === 0) return;
  process.stdout.write(`${title}\n`);
  for (const { endpoint, says } of differences) printLine(`  ${endpoint}: ${says}`);
  process.stdout.write('\n');
}

/** Compares endpoint by endpoint and field by field. */
function compare(ours: readonly Endpoint[], theirs: readonly ServiceEndpoint[]): Difference[] {
  const found: Difference[] = [];
  const unmatched = new Map(theirs.map((endpoint) => [key(endpoint), corrected(endpoint)]));
  for (const endpoint of ours) {
    const name = `${endpoint.method} ${endpoint.path}`;
    const say: Say = (kind, says) => found.push({ kind, endpoint: name, says });
    const other = unmatched.get(key(endpoint));
    unmatched.delete(key(endpoint));
    if (!other) {
      say('breaks', 'the service does not describe this endpoint');
      continue;
    }
    compareQuery(endpoint, other, say);
    compareBody(endpoint, other, say);
    if (other.response) compareResponse(shapeOfOurs(endpoint.answer, 'output'), other.response, 'response', say);
    else say('ours', 'the service does not describe the response');
  }
  for (const { method, path } of unmatched.values()) {
    found.push({ kind: 'theirs', endpoint: `${method} ${path}`, says: 'the client has no method for this endpoint' });
  }
  return found;
}

/** Names in braces may differ between the two sides. */
function key({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`;
}

function shapeOfOurs(schema: z.ZodType, io: 'input' | 'output'): Shape {
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return shapeOf(json, json);
}

function compareQuery({ query: schema }: Endpoint, { query }: ServiceEndpoint, say: Say): void {
  const ours = schema ? shapeOfOurs(schema, 'input').properties : new Map<string, Shape>();
  for (const [name, shape] of ours) {
    const other = query.get(name);
    // Everything in a query is text: types say little there.
    if (other) compareValues(shape, other.shape, `query "${name}"`, say);
    else say('ours', `query "${name}" is unknown to the service`);
  }
  for (const [name, { isRequired }] of query) {
    if (!ours.has(name))
      say(
        isRequired ? 'breaks' : 'theirs',
        `query "${name}" ${isRequired ? 'is required' : 'is not sent by poolwright'}`,
      );
  }
}

function compareBody({ body: schema }: Endpoint, { body }: ServiceEndpoint, say: Say): void {
  if (!schema) return;
  if (body) compareRequest(shapeOfOurs(schema, 'input'), body, 'body', say);
  else say('ours', 'the service does not describe the body');
}

/**
 * Where the service document corrects the live description (its section 9), as far as shapes say it: `duration` accepts
 * 60, and a balance may be negative. Its other corrections are of statuses, which the client takes by their kind.
 */
function corrected(endpoint: ServiceEndpoint): ServiceEndpoint {
  switch (`${endpoint.method} ${endpoint.path}`) {
    case 'POST /v1/browser/session':
      return { ...endpoint, body: withProperty(endpoint.body, 'duration', { min: 60 }) };
    case 'GET /v1/account/balance':
      return { ...endpoint, response: withProperty(endpoint.response, 'balance_cents', { min: null }) };
    default:
      return endpoint;
  }
}

function withProperty(shape: Shape | null, name: string, correction: Partial<Shape>): Shape | null {
  const property = shape?.properties.get(name);
  if (!shape || !property) return shape;
  return { ...shape, properties: new Map([...shape.properties, [name, { ...property, ...correction }]]) };
}
