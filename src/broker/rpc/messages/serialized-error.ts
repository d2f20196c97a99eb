import * as v from 'valibot';
import { errorMessage } from '../../../common/error-message.ts';
import { errorCodes, errorOf, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../../errors.ts';
import { redactText } from '../../../redact.ts';

/** Errors over the broker's socket: code and message, so that the worker throws the error that the broker caught. */

const serializedError = v.object({
  message: v.string(),
  code: v.picklist(errorCodes),
  /** Data of the error's class. */
  details: v.object({
    field: v.optional(v.string()),
    lease: v.optional(v.object({ sessionId: v.optional(v.string()) })),
    service: v.optional(
      v.object({
        status: v.number(),
        serviceCode: v.optional(v.string()),
        serviceMessage: v.optional(v.string()),
        request: v.string(),
        retryable: v.boolean(),
        retryAfterMs: v.optional(v.number()),
        attempts: v.number(),
      }),
    ),
  }),
});

export type SerializedError = v.InferOutput<typeof serializedError>;

/** Converts an error into a message without its stack and without secrets. */
export function serializeError(error: unknown, secrets: readonly string[]): SerializedError {
  const clean = (text: string) => redactText(text, secrets);
  const code = error instanceof PoolwrightError ? error.code : 'BROKER_FAILED';
  return { message: clean(errorMessage(error)), code, details: detailsOf(error, clean) };
}

function detailsOf(error: unknown, clean: (text: string) => string): SerializedError['details'] {
  if (error instanceof OptionsError) return { field: error.field };
  if (error instanceof LeaseError) return { lease: { sessionId: error.sessionId } };
  if (!(error instanceof ServiceError)) return {};
  const { status, serviceCode, serviceMessage, request, retryable, retryAfterMs, attempts } = error;
  const said = {
    serviceCode: serviceCode && clean(serviceCode),
    serviceMessage: serviceMessage && clean(serviceMessage),
  };
  return { service: { status, ...said, request: clean(request), retryable, retryAfterMs, attempts } };
}

/** The broker is gone or was never there. */
export function brokerLost(reason: unknown): LeaseError {
  const text = errorMessage(reason);
  return new LeaseError(
    'BROKER_LOST',
    `The poolwright broker of this run went away (${text}). Its log is in the output directory, poolwright/broker.log.`,
  );
}

/** Returns the error that a failed request throws in the worker. */
export function deserializeError(error: unknown): PoolwrightError {
  const parsed = v.safeParse(serializedError, error);
  if (!parsed.success) return brokerLost('its response is invalid');
  const { code, message, details } = parsed.output;
  return errorOf(code, message, details);
}
