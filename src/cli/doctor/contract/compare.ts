import * as z from 'zod';
import type { Endpoint } from '../../../service/index.ts';
import { compareRequest, compareValues } from './compare-request.ts';
import { compareResponse } from './compare-response.ts';
import { corrected } from './corrections.ts';
import type { Difference, Say } from './difference.ts';
import type { ServiceEndpoint } from './service-endpoints.ts';
import { type Shape, shapeOf } from './shape.ts';

/** Compares endpoint by endpoint and field by field. */
export function compare(ours: readonly Endpoint[], theirs: readonly ServiceEndpoint[]): Difference[] {
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
