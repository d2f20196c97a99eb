import type * as z from 'zod';
import { ServiceError } from '../../errors.ts';
import { type CallOptions, REQUEST_TIMEOUT } from '../http/client-options.ts';
import type { Call, ServiceCore } from '../http/core.ts';
import { explainAmbiguous } from '../http/failures.ts';
import {
  deleteExtensionResponse,
  type Extension,
  extensionAnswer,
  extensionId as extensionIdSchema,
  extensionList,
} from '../schemas/index.ts';
import { type ExtensionFile, extensionForm } from './extension-file.ts';

/** Extensions (sections 2.5, 4.7 and 4.8 of the service document). */

const EXTENSIONS = '/v1/browser/extensions';

/**
 * Path and subject of a call about one extension. @throws PoolwrightError `REQUEST_INVALID` for an ID that cannot be
 * one
 */
function about(core: ServiceCore, extensionId: string) {
  core.check(extensionIdSchema, extensionId, 'The request for an extension');
  return { path: `${EXTENSIONS}/${encodeURIComponent(extensionId)}`, subject: `extension ${extensionId}` };
}

export async function uploadExtension(
  core: ServiceCore,
  file: ExtensionFile,
  options: CallOptions,
): Promise<Extension> {
  const form = await extensionForm(file, `POST ${EXTENSIONS}`);
  const call = { method: 'POST', path: EXTENSIONS, form, schema: extensionAnswer, repeat: 'never' } as const;
  const left = 'The extension may have been stored all the same: look with listExtensions before you upload it again.';
  const { data } = await explainAmbiguous(core.request(upload(core, call, options), options), left);
  return data.extension;
}

export async function replaceExtension(
  core: ServiceCore,
  extensionId: string,
  file: ExtensionFile,
  options: CallOptions,
): Promise<Extension> {
  const target = about(core, extensionId);
  const form = await extensionForm(file, `PUT ${target.path}`);
  const call = { method: 'PUT', ...target, form, schema: extensionAnswer, repeat: 'always' } as const;
  return (await core.request(upload(core, call, options), options)).data.extension;
}

export async function listExtensions(core: ServiceCore, options: CallOptions): Promise<Extension[]> {
  const call = { method: 'GET', path: EXTENSIONS, schema: extensionList, repeat: 'always' } as const;
  return (await core.request(call, options)).data.extensions;
}

export async function getExtension(core: ServiceCore, extensionId: string, options: CallOptions): Promise<Extension> {
  const call = { method: 'GET', ...about(core, extensionId), schema: extensionAnswer, repeat: 'always' } as const;
  return (await core.request(call, options)).data.extension;
}

export async function deleteExtension(core: ServiceCore, extensionId: string, options: CallOptions): Promise<void> {
  const target = about(core, extensionId);
  const call = { method: 'DELETE', ...target, schema: deleteExtensionResponse, repeat: 'always' } as const;
  try {
    const { status, data } = await core.request(call, options);
    if (data.success === false) throw core.badResponse(call, status, '`success` is false: it may still be there');
  } catch (error) {
    // A request before this one has deleted it, and its response was lost.
    const deletedBefore = error instanceof ServiceError && error.code === 'SERVICE_NOT_FOUND' && error.attempts > 1;
    if (!deletedBefore) throw error;
  }
}

/** A file takes longer than a question. */
function upload<S extends z.ZodType>(core: ServiceCore, call: Call<S>, { timeout }: CallOptions): Call<S> {
  return { ...call, timeoutMs: timeout ?? Math.max(core.timeout, REQUEST_TIMEOUT.upload) };
}
