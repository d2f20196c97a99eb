import { basename } from 'node:path';
import type { FixedBrowser } from '../options/resolve-service.ts';
import { FixedBrowsers } from './fixed-browsers.ts';
import { openModule } from './module/module-process.ts';
import { ProvidedSessions } from './provided-sessions.ts';

/** The user's own browsers: addresses, or the absolute path of a provider. */
export type OwnBrowsers = { kind: 'browsers'; browsers: FixedBrowser[] } | { kind: 'provider'; file: string };

/**
 * Opens what provides the user's own browsers; `close()` ends the process of a user's module.
 * @param onNote takes lines for the user
 * @param beatClock dates signs of life, in ms since the epoch: a clock that those who judge them share
 * @throws OptionsError for a file without a provider
 */
export async function openProvider(
  own: OwnBrowsers,
  onNote: (text: string) => void,
  beatClock?: () => number,
): Promise<ProvidedSessions> {
  if (own.kind === 'browsers') return new ProvidedSessions(new FixedBrowsers(own.browsers, onNote));
  return new ProvidedSessions(await openModule(own.file, onNote), basename(own.file), beatClock);
}
