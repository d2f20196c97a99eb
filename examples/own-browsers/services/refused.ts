import { ProviderError, type ProviderErrorCode } from 'poolwright/provider';

const CODES: Record<number, ProviderErrorCode> = {
  400: 'INVALID',
  401: 'UNAUTHORIZED',
  402: 'OUT_OF_CREDIT',
  403: 'UNAUTHORIZED',
  404: 'INVALID',
  422: 'INVALID',
};

/**
 * What a service's response to `acquire` means for a run.
 * @param status of HTTP; undefined: there was no response
 * @param running counts the account's browsers
 */
export async function refused(
  status: number | undefined,
  error: unknown,
  running: () => Promise<number>,
): Promise<ProviderError> {
  const message = error instanceof Error ? error.message : String(error);
  const code = CODES[status ?? 0];
  if (code) return new ProviderError(code, message);
  if (status !== 429) return new ProviderError('UNAVAILABLE', message);
  // One status for two reasons. At the limit of browsers, one will end; where none runs, too many were started lately.
  const isFull = await running().then(
    (count) => count > 0,
    () => true,
  );
  return isFull
    ? new ProviderError('LIMIT_REACHED', message)
    : new ProviderError('CAPACITY', message, { retryAfterMs: 20_000 });
}
