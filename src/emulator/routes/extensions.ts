import { z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { LIMITS } from '../../service/limits.ts';
import {
  deleteExtensionResponse,
  extensionAnswer,
  extensionId,
  extensionList,
} from '../../service/schemas/extension.ts';
import { ApiError } from '../api-error.ts';
import { type ApiEnv, createRouter, jsonResponse, limitBody, route } from '../http.ts';

/** Room for the parts of a form around its file. */
const FORM_BYTES = 64 * 1024;
const maxBytes = LIMITS.extensionBytes.max;

const requireAccess: MiddlewareHandler<ApiEnv> = async (c, next) => {
  c.var.workspace.stores.checkExtensionAccess();
  await next();
};

const requireForm: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (!/^multipart\/form-data\b/i.test(c.req.header('Content-Type') ?? '')) {
    throw new ApiError(400, 'The body must be a form with the ZIP file in it, sent as multipart/form-data');
  }
  await next();
};

const byExtensionId = z.object({ extensionId });
const zipPart = z
  .custom<File>((value) => value instanceof File, 'must be a file: the ZIP of the extension')
  .openapi({ type: 'string', format: 'binary' });
const zipForm = { content: { 'multipart/form-data': { schema: z.object({ extension: zipPart }) } }, required: true };
const uploading = [
  requireAccess,
  requireForm,
  limitBody(maxBytes + FORM_BYTES, `extension: larger than ${maxBytes} bytes`),
];
const errors = [400, 403, 404] as const;

const uploadExtension = route('post', '/extensions', {
  operationId: 'uploadExtension',
  summary: 'Upload an extension',
  middleware: uploading,
  request: { body: zipForm },
  responses: { 201: jsonResponse(extensionAnswer, 'The extension') },
  errors: [400, 403],
});

const replaceExtension = route('put', '/extensions/{extensionId}', {
  operationId: 'replaceExtension',
  summary: 'Replace an extension with a new ZIP',
  middleware: uploading,
  request: { params: byExtensionId, body: zipForm },
  responses: { 200: jsonResponse(extensionAnswer, 'The extension') },
  errors,
});

const listExtensions = route('get', '/extensions', {
  operationId: 'listExtensions',
  summary: 'List extensions',
  middleware: requireAccess,
  responses: { 200: jsonResponse(extensionList, 'All extensions of the workspace') },
  errors: [403],
});

const getExtension = route('get', '/extensions/{extensionId}', {
  operationId: 'getExtension',
  summary: 'Get an extension',
  middleware: requireAccess,
  request: { params: byExtensionId },
  responses: { 200: jsonResponse(extensionAnswer, 'The extension') },
  errors,
});

const deleteExtension = route('delete', '/extensions/{extensionId}', {
  operationId: 'deleteExtension',
  summary: 'Delete an extension',
  middleware: requireAccess,
  request: { params: byExtensionId },
  responses: { 200: jsonResponse(deleteExtensionResponse, 'Deleted') },
  errors,
});

/** `/v1/browser/extensions` (sections 2.5, 4.7 and 4.8 of the service document). */
export function extensionRoutes() {
  return createRouter()
    .openapi(uploadExtension, async (c) => {
      const zip = await bytesOf(c.req.valid('form').extension);
      return c.json({ extension: await c.var.workspace.stores.extensions.add(zip) }, 201);
    })
    .openapi(replaceExtension, async (c) => {
      const zip = await bytesOf(c.req.valid('form').extension);
      const { extensionId } = c.req.valid('param');
      return c.json({ extension: await c.var.workspace.stores.extensions.replace(extensionId, zip) }, 200);
    })
    .openapi(listExtensions, (c) => c.json({ extensions: c.var.workspace.stores.extensions.all }, 200))
    .openapi(getExtension, (c) => {
      return c.json({ extension: c.var.workspace.stores.extensions.get(c.req.valid('param').extensionId) }, 200);
    })
    .openapi(deleteExtension, async (c) => {
      await c.var.workspace.stores.extensions.delete(c.req.valid('param').extensionId);
      return c.json({ success: true }, 200);
    });
}

/** Whether a request uploads a file instead of JSON. */
export function isUpload(method: string, path: string): boolean {
  return (method === 'POST' || method === 'PUT') && /^\/v1\/browser\/extensions(\/|$)/.test(path);
}

async function bytesOf(file: File): Promise<Buffer> {
  return Buffer.from(await file.arrayBuffer());
}
