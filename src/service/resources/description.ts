import { z } from 'zod';
import type { CallOptions } from '../http/client-options.ts';
import type { ServiceCore } from '../http/core.ts';

const description = z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) });

/** What the service says of itself: an OpenAPI document. Nothing below its first level is checked. */
export type ApiDescription = z.output<typeof description>;

/** The live description (sections 1 and 9 of the service document). */
export async function getDescription(core: ServiceCore, options: CallOptions): Promise<ApiDescription> {
  const call = { method: 'GET', path: '/doc', schema: description, repeat: 'always' } as const;
  return (await core.request(call, options)).data;
}
