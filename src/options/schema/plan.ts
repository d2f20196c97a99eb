import * as v from 'valibot';
import type { CreateSessionRequest } from '../../service/schemas/index.ts';
import type { RunPoolOptions } from './schema.ts';

/** The options of a project as they are sent: to the broker, and to the processes that run tests. */

const reuse = v.picklist(['run', 'worker', 'test']);
const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/**
 * Everything the broker needs to get a browser for one project. What is sent to the service is checked where users
 * write it, and by the service's client before it sends it.
 */
export const leasePlanSchema = v.object({
  pool: v.nullable(v.union([v.string(), v.object({ create: v.custom<RunPoolOptions['create']>(isObject) })])),
  fallback: v.picklist(['session', 'fail']),
  session: v.custom<CreateSessionRequest>(isObject),
  reuse,
  /** ms */
  acquireTimeout: v.pipe(v.number(), v.finite(), v.gtValue(0)),
});

export type LeasePlan = v.InferOutput<typeof leasePlanSchema>;

/** What a worker needs for its connections to the browsers of a project. */
export const connectionSchema = v.object({
  /** Whether a browser goes from test to test. */
  reuse,
  metering: v.boolean(),
  /** Whether latency is hidden. */
  ahead: v.boolean(),
  /** Which servers and files of this machine pages reach: the value of the option, with `auto` resolved. */
  exposeNetwork: v.string(),
  context: v.union([
    v.picklist(['auto', 'isolated', 'persistent']),
    v.object({ mode: v.literal('persistent'), clear: v.optional(v.boolean()) }),
  ]),
  identity: v.optional(v.picklist(['keep', 'override'])),
  /** Another way to the browser than CDP from this process: the name and the value of its option. Default: none. */
  way: v.optional(v.object({ name: v.string(), address: v.string() })),
});

export type ConnectionSettings = v.InferOutput<typeof connectionSchema>;
