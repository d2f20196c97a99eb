import * as z from 'zod';

/** Extensions: sections 2.5, 4.7 and 4.8 of the service document. */

/** An extension as the service returns it; unknown fields pass. */
export const extension = z.looseObject({
  extensionId: z.string().min(1).describe('Internal ID; stays the same when the extension is replaced.'),
  crxExtensionId: z.string().nullish().describe('The ID under which Chromium runs it.'),
  name: z.string().nullish(),
  version: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});

/** Response to an upload, a replacement and a get. */
export const extensionAnswer = z.looseObject({ extension });

/** Response to `GET /v1/browser/extensions`. */
export const extensionList = z.looseObject({ extensions: z.array(extension) });

/** An extension's internal ID. */
export const extensionId = z.string().min(1);

/** Its fields are not shown in the document. */
export const deleteExtensionResponse = z.looseObject({ success: z.boolean().optional() });

/** An extension (section 2.5): timestamps are ISO 8601. */
export type Extension = z.output<typeof extension>;
