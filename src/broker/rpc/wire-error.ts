import * as v from 'valibot';
import { errorMessage } from '../../common/error-message.ts';
import { errorCodes, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
import { redactText } from '../../redact.ts';

/** Errors across the broker's socket: code and message, so that the worker throws what the broker caught. */

const common = { code: v.picklist(errorCodes) };

const errorData = v.variant('kind', [
  v.object({ ...common, kind: v.literal('options'), field: v.string() }),
  v.object({ ...common, kind: v.literal('lease'), sessionId: v.optional(v.string()) }),
  v.object({
    ...common,
    kind: v.literal('service'),
    details: v.object({
      status: v.number(),
      serviceCode: v.optional(v.string()),
      serviceMessage: v.optional(v.string()),
      request: v.string(),
      retryable: v.boolean(),
      retryAfterMs: v.optional(v.number()),
      attempts: v.number(),
    }),
  }),
  v.object({ ...common, kind: v.literal('other') }),
]);

type ErrorData = v.InferOutput<typeof errorData>;

const wireError = v.object({ message: v.string(), data: errorData });

/** An error on its way. */
export type WireError = v.InferOutput<typeof wireError>;

/** An error as it goes over the socket: without stack, without secrets. */
export function toWire(error: unknown, secrets: readonly string[]): WireError {
  const clean = (text: string) => redactText(text, secrets);
  return { message: clean(errorMessage(error)), data: dataOf(error, clean) };
}

function dataOf(error: unknown, clean: (text: string) => string): ErrorData {
  if (!(error instanceof PoolwrightError)) return { kind: 'lease', code: 'BROKER_FAILED' };
  const { code } = error;
  if (error instanceof OptionsError) return { kind: 'options', code, field: error.field };
  if (error instanceof LeaseError) return { kind: 'lease', code, sessionId: error.sessionId };
  if (!(error instanceof ServiceError)) return { kind: 'other', code };
  const { status, serviceCode, serviceMessage, request, retryable, retryAfterMs, attempts } = error;
  const said = {
    serviceCode: serviceCode && clean(serviceCode),
    serviceMessage: serviceMessage && clean(serviceMessage),
  };
  return {
    kind: 'service',
    code,
    details: { status, ...said, request: clean(request), retryable, retryAfterMs, attempts },
  };
}

/** The broker is gone, or was never there. */
export function brokerLost(reason: unknown): LeaseError {
  const text = errorMessage(reason);
  return new LeaseError(
    'BROKER_LOST',
    `The poolwright broker of this run went away (${text}). Its log is in the output folder, poolwright/broker.log.`,
  );
}

/** What a failed request throws in the worker. */
export function fromWire(error: unknown): PoolwrightError {
  const parsed = v.safeParse(wireError, error);
  return parsed.success ? fromData(parsed.output.message, parsed.output.data) : brokerLost('its answer makes no sense');
}

function fromData(message: string, data: ErrorData): PoolwrightError {
  const { code } = data;
  switch (data.kind) {
    case 'options':
      return new OptionsError(data.field, message, code === 'ENVIRONMENT_MISSING' ? code : 'OPTIONS_INVALID');
    case 'lease':
      return new LeaseError(code, message, { sessionId: data.sessionId });
    case 'service':
      return new ServiceError(code, message, data.details);
    case 'other':
      return new PoolwrightError(code, message);
  }
}
