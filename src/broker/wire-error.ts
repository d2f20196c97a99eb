import { ResponseError } from 'vscode-jsonrpc/node';
import { z } from 'zod';
import { errorCodes, LeaseError, OptionsError, PoolwrightError } from '../errors.ts';
import { redactText } from '../redact.ts';

/** Errors across the broker's socket: code and message, so that the worker throws what the broker caught. */

const errorData = z.object({
  code: z.enum(errorCodes),
  kind: z.enum(['options', 'lease', 'other']),
  field: z.string().optional(),
  sessionId: z.string().optional(),
});

const APPLICATION_ERROR = -32000;

/** An error as it goes over the socket: without stack, without secrets. */
export function toWire(error: unknown, secrets: readonly string[]): ResponseError<z.infer<typeof errorData>> {
  const message = redactText(error instanceof Error ? error.message : String(error), secrets);
  if (error instanceof OptionsError) {
    return new ResponseError(APPLICATION_ERROR, message, { code: error.code, kind: 'options', field: error.field });
  }
  if (error instanceof LeaseError) {
    return new ResponseError(APPLICATION_ERROR, message, {
      code: error.code,
      kind: 'lease',
      sessionId: error.sessionId,
    });
  }
  const code = error instanceof PoolwrightError ? error.code : 'BROKER_FAILED';
  return new ResponseError(APPLICATION_ERROR, message, { code, kind: 'other' });
}

/** The broker is gone, or was never there. */
export function brokerLost(reason: unknown): LeaseError {
  const text = reason instanceof Error ? reason.message : String(reason);
  return new LeaseError(
    'BROKER_LOST',
    `The poolwright broker of this run went away (${text}). Its log is in the output folder, poolwright/broker.log.`,
  );
}

/** What a failed request throws in the worker. */
export function fromWire(error: unknown): PoolwrightError {
  if (error instanceof PoolwrightError) return error;
  if (error instanceof ResponseError) {
    const data = errorData.safeParse(error.data);
    if (data.success) {
      const { code } = data.data;
      if (data.data.kind === 'options') {
        return new OptionsError(
          data.data.field ?? '',
          error.message,
          code === 'ENVIRONMENT_MISSING' ? code : 'OPTIONS_INVALID',
        );
      }
      return new LeaseError(code, error.message, { sessionId: data.data.sessionId });
    }
  }
  return brokerLost(error);
}
