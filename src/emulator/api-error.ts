/** The statuses that the emulator returns on purpose (section 7 of the service document). */
export type ApiErrorStatus = 400 | 401 | 402 | 403 | 404 | 409 | 500 | 503 | 504;

/** An error response: `{ error, code? }` with this status. Never leaves the emulator as an exception. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: ApiErrorStatus;
  /** The body's `code`, where the document gives one. */
  readonly code: string | undefined;

  constructor(status: ApiErrorStatus, message: string, options?: { code?: string; cause?: unknown }) {
    super(message, { cause: options?.cause });
    this.status = status;
    this.code = options?.code;
  }
}
