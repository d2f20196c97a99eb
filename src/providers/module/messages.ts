import type { OPTIONAL, ProviderErrorCode } from '../provider.ts';

/** What the process of a user's module and the process that started it send to each other. */

/** The functions of a provider. */
export type FunctionName = 'acquire' | 'release' | (typeof OPTIONAL)[number];

export type ToModule =
  /** First of all: the file's absolute path. */
  | { do: 'load'; file: string }
  | { do: 'call'; call: number; name: FunctionName; args: readonly unknown[] }
  /** Its signal fires. */
  | { do: 'abort'; call: number }
  /** This browser is in a ledger: if this process's parent dies, others release it. */
  | { do: 'kept'; id: string }
  | { do: 'ping' };

export type FromModule =
  | { is: 'loaded'; has: FunctionName[] }
  | { is: 'refused'; message: string }
  | { is: 'begun'; call: number }
  /** `value`: JSON. */
  | { is: 'done'; call: number; value: string | undefined }
  | {
      is: 'failed';
      call: number;
      code: ProviderErrorCode | undefined;
      retryAfterMs: number | undefined;
      message: string;
    }
  /** It failed outside of its functions. */
  | { is: 'stray'; message: string }
  | { is: 'pong' };

/** How long a module whose parent is gone may take to end, in ms: for each of the two steps. */
export const ORPHAN_MS = { acquire: 15_000, release: 15_000 };
