import type { SessionType } from '../service/schemas/index.ts';

/** What a user may write as `identity`. */
export type IdentityOption = 'keep' | 'override';

/** Whether the browser's identity overrides emulation from `use`. By default it does on stealth browsers. */
export function keepsIdentity(option: IdentityOption | undefined, type: SessionType): boolean {
  return (option ?? (type === 'hosted' ? 'override' : 'keep')) === 'keep';
}
