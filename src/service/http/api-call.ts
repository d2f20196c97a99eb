import type * as z from 'zod';
import { proxySecrets } from '../../common/url/credentials.ts';
import type { CallOptions } from './client-options.ts';
import type { Call, ServiceCore } from './core.ts';

/** Calls of endpoints that are described by a table. */

/** An endpoint and its rules, without the data of a call. */
export interface ApiCall {
  method: Call<z.ZodType>['method'];
  /** With the name of an ID in braces: `/v1/browser/pools/{poolId}`. */
  path: string;
  /** The ID in the path, and how messages name it when it cannot be one. */
  id?: { schema: z.ZodType; of(id: string): string };
  query?: z.ZodObject;
  body?: z.ZodObject;
  answer: z.ZodObject;
  repeat: Call<z.ZodType>['repeat'];
  /** The subject of a call, for messages. */
  subject?(named: Named): string;
  /** Possible reasons for a response with `success: false`. */
  undone?: string;
}

/** The ID, the query and the body of a call, by name. */
export type Named = Readonly<Record<string, unknown>>;

type Input<S> = S extends z.ZodType ? z.input<S> : undefined;

interface Sent<E extends ApiCall> {
  id?: string;
  query?: Input<E['query']>;
  body?: Input<E['body']>;
}

/**
 * Calls an endpoint, and returns the response.
 * @throws PoolwrightError `REQUEST_INVALID` with every problem, before anything is sent
 */
export async function callApi<E extends ApiCall>(
  core: ServiceCore,
  endpoint: E,
  sent: Sent<E>,
  options: CallOptions,
): Promise<z.output<E['answer']>> {
  const call = prepare(core, endpoint, sent);
  const { status, data } = await core.request(call, options);
  if (endpoint.undone !== undefined && (data as { success?: boolean }).success === false)
    throw core.badResponse(call, status, `\`success\` is false: ${endpoint.undone}`);
  return data;
}

/** A call with what is sent, checked. @throws PoolwrightError `REQUEST_INVALID` with every problem */
export function prepare<E extends ApiCall>(
  core: ServiceCore,
  endpoint: E,
  { id = '', query, body }: Sent<E>,
): Call<E['answer']> {
  const { method, answer, repeat, subject } = endpoint;
  if (endpoint.id) core.check(endpoint.id.schema, id, `The request for ${endpoint.id.of(id)}`);
  const path = endpoint.path.replace(/\{\w+\}/, () => encodeURIComponent(id));
  const request = `${method} ${path}`;
  const call: Call<E['answer']> = { method, path, schema: answer, repeat };
  if (endpoint.query) call.query = core.check(endpoint.query, query ?? {}, request) as NonNullable<typeof call.query>;
  const json = endpoint.body && core.check(endpoint.body, body, request);
  if (json) Object.assign(call, { json, secrets: proxySecrets(json) });
  if (subject) call.subject = subject({ id, ...call.query, ...json });
  return call;
}
