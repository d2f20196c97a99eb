import * as z from 'zod';
import { printable } from '../../src/printable.ts';
import { ENDPOINTS, type Endpoint, type ServiceClient } from '../../src/service/index.ts';
import { compareRequest, compareResponse, compareValues, type Difference, type Say } from './compare-shapes.ts';
import { type ServiceEndpoint, serviceEndpoints } from './service-endpoints.ts';
import { type Shape, shapeOf } from './shape.ts';

/** Bound on fetching the description, in ms. */
const TIMEOUT_MS = 15_000;

/** What differs between the service's description of its API and what the client sends and reads; `breaks` first. */
export async function compareContract(client: ServiceClient): Promise<string[]> {
  const differences = compare(ENDPOINTS, serviceEndpoints(await client.getDescription({ timeout: TIMEOUT_MS })));
  return differences.map(({ kind, endpoint, says }) => printable(`${kind}: ${endpoint}: ${says}`)).sort();
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
