import * as z from 'zod';
import type { ApiDescription } from '../../src/service/index.ts';
import { resolve, type Shape, shapeOf } from './shape.ts';

/** An endpoint as the service describes it. */
export interface ServiceEndpoint {
  method: string;
  path: string;
  query: ReadonlyMap<string, { shape: Shape; isRequired: boolean }>;
  /** Null: none, or none in JSON. */
  body: Shape | null;
  /** Of a success; null when it is not described. */
  response: Shape | null;
}

const content = z.looseObject({ 'application/json': z.looseObject({ schema: z.unknown() }) });
const withContent = z.looseObject({ content });
const parameterFields = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  schema: z.unknown().optional(),
});
const operationFields = z.looseObject({
  parameters: z.array(z.unknown()).optional(),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.unknown()).optional(),
});
const servers = z.array(z.looseObject({ url: z.string() }));

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Every endpoint of an OpenAPI document (3.0 or 3.1); what of it cannot be read is left out. */
export function serviceEndpoints(document: ApiDescription): ServiceEndpoint[] {
  const prefix = pathPrefix(document);
  return Object.entries(document.paths).flatMap(([path, item]) => {
    const fields = z.record(z.string(), z.unknown()).safeParse(item).data ?? {};
    const shared = z.array(z.unknown()).safeParse(fields.parameters).data ?? [];
    return METHODS.filter((method) => method in fields).map((method) =>
      endpoint(document, method, prefix + path, fields[method], shared),
    );
  });
}

function endpoint(
  document: ApiDescription,
  method: string,
  path: string,
  operation: unknown,
  shared: unknown[],
): ServiceEndpoint {
  const { parameters = [], requestBody, responses = {} } = operationFields.safeParse(operation).data ?? {};
  const query = [...shared, ...parameters]
    .map((parameter) => parameterFields.safeParse(followed(parameter, document)).data)
    .filter((parameter) => parameter?.in === 'query')
    .flatMap((parameter) => parameter ?? [])
    .map(
      ({ name, required = false, schema }) =>
        [name, { shape: shapeOf(schema, document), isRequired: required }] as const,
    );
  const success = Object.entries(responses).find(([status]) => /^2/.test(status))?.[1];
  return {
    method: method.toUpperCase(),
    path,
    query: new Map(query),
    body: jsonShape(requestBody, document),
    response: jsonShape(success, document),
  };
}

function jsonShape(holder: unknown, document: ApiDescription): Shape | null {
  const { success, data } = withContent.safeParse(followed(holder, document));
  return success ? shapeOf(data.content['application/json'].schema, document) : null;
}

function followed(value: unknown, document: ApiDescription): unknown {
  const { success, data } = z.looseObject({ $ref: z.string() }).safeParse(value);
  return success ? resolve(data.$ref, document) : value;
}

/** Some descriptions have the version of the paths in the server's address. */
function pathPrefix({ paths, servers: described }: ApiDescription): string {
  if (Object.keys(paths).some((path) => path.startsWith('/v1/'))) return '';
  const [server] = servers.safeParse(described).data ?? [];
  return /\/v1(?=\/?$)/.exec(server?.url ?? '')?.[0] ?? '';
}
