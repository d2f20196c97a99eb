import { ServiceError } from '../../../../src/errors.ts';
import { type Provider, ProviderError, type ProviderErrorCode } from '../../../../src/providers/provider.ts';
import type { ScriptedService } from './scripted-service.ts';

const CODES: Record<number, ProviderErrorCode> = {
  400: 'INVALID',
  401: 'UNAUTHORIZED',
  402: 'OUT_OF_CREDIT',
  409: 'INVALID',
  429: 'CAPACITY',
  503: 'CAPACITY',
};

/** A provider whose browsers are those of a scripted service, with or without a list of them. */
export function scriptedProvider(service: ScriptedService, lists = true): Provider {
  return {
    acquire: async ({ label, signal }) => {
      let isDoubtful = false;
      const onDoubt = () => {
        isDoubtful = true;
      };
      const { sessionId, cdpUrl } = await service
        .createSession({ note: label }, { signal, onDoubt })
        .catch((error) => Promise.reject(asProviderError(error, isDoubtful)));
      return { id: sessionId, cdpUrl: cdpUrl ?? 'nowhere' };
    },
    release: async (id) => {
      await service.stopSession(id).catch((error) => {
        if (!(error instanceof ServiceError) || error.status !== 404) throw asProviderError(error, true);
      });
    },
    ...(lists && {
      list: async () => {
        const listed = [];
        for await (const { sessionId, note } of service.iterateSessions({ status: 'active' }))
          listed.push({ id: sessionId, label: note });
        return listed;
      },
    }),
  };
}

function asProviderError(error: unknown, isDoubtful: boolean): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code === 'SERVICE_LIMIT_REACHED') return new ProviderError('LIMIT_REACHED', error.message);
  const code = isDoubtful ? 'UNAVAILABLE' : (CODES[error.status] ?? 'INVALID');
  return new ProviderError(code, error.message);
}
