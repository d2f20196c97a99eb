import * as z from 'zod';
import { LIMITS, sessionTypes } from '../limits.ts';
import { browserFields, noteField } from './fields.ts';

/** Sessions: sections 2.1, 3.1, 4.2, 4.3 of the service document. */

/** Section 3.1. */
export const sessionStatuses = ['starting', 'active', 'completed', 'error'] as const;

/** Body of `POST /v1/browser/session`. Unknown fields are refused (section 4.2). */
export const createSessionRequest = z.strictObject({
  ...browserFields,
  type: z.enum(sessionTypes).optional().describe('Default `hosted`.'),
  duration: z
    .int()
    .min(LIMITS.duration.min)
    .max(LIMITS.duration.max)
    .optional()
    .describe('Seconds until the service ends the session. Default 3600.'),
  browserCheck: z.boolean().optional().describe('Run a browser validation check during creation. Default false.'),
});

/** Body of `PATCH /v1/browser/session` as the client sends it. */
export const updateSessionRequest = z.strictObject({
  note: noteField.nullable().optional(),
});

/** Query of `GET /v1/browser/sessions`. */
export const listSessionsRequest = z.strictObject({
  status: z.enum(sessionStatuses).optional(),
  page: z.int().min(1).optional(),
  pageSize: z.int().min(1).max(LIMITS.pageSize.max).optional(),
});

/** A session as the service returns it. Unknown fields and statuses are kept, so that new ones break nothing. */
export const session = z.looseObject({
  sessionId: z.string().min(1),
  status: z.string(),
  servedBy: z.string().nullish(),
  createdAt: z.string().nullish(),
  stoppedAt: z.string().nullish(),
  cdpUrl: z.string().nullish(),
  note: z.string().nullish(),
  bandwidthBytes: z.number().nonnegative().nullish(),
});

/** One page of `GET /v1/browser/sessions`. */
export const sessionList = z.looseObject({ sessions: z.array(session) });
/** Response to `DELETE /v1/browser/session`, the same for a session that had ended. */
export const stopSessionResponse = z.looseObject({ success: z.boolean().optional() });

/** The statuses that the document lists; {@link Session} leaves room for more. */
export type SessionStatus = (typeof sessionStatuses)[number];
/** Kinds of browser. */
export type SessionType = (typeof sessionTypes)[number];
/** What a session may be created with. Units and bounds: section 4.2 of the service document. */
export type CreateSessionRequest = z.input<typeof createSessionRequest>;
/** `note`: at most 256 characters; null takes it away. */
export type UpdateSessionRequest = z.input<typeof updateSessionRequest>;
/** `status`: exactly one; `page`: from 1; `pageSize`: 1 to 100. */
export type ListSessionsRequest = z.input<typeof listSessionsRequest>;
/**
 * A session (section 2.1): timestamps are ISO 8601; `cdpUrl` is a secret, and null while there is none;
 * `bandwidthBytes` is in bytes, and usually absent or null until the session has ended.
 */
export type Session = z.output<typeof session>;
/** One page of sessions. */
export type SessionPage = z.output<typeof sessionList>;
