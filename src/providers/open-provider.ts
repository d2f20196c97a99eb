import { basename } from 'node:path';
import type { FixedBrowser } from '../options/resolve-service.ts';
import { ServiceClient } from '../service/index.ts';
import { FixedBrowsers } from './fixed-browsers.ts';
import { HostedBrowsers } from './hosted/hosted-browsers.ts';
import { openModule } from './module/module-process.ts';
import type { BrowserProvider, Refusal } from './port.ts';
import { ProvidedBrowsers } from './provided-browsers.ts';

/** The user's own browsers: addresses, or the absolute path of a provider. */
export type OwnBrowsers = { kind: 'browsers'; browsers: FixedBrowser[] } | { kind: 'provider'; file: string };

/** The service, or the user's own browsers. */
export type ProviderChoice = { kind: 'hosted'; baseURL: string; apiKey: string } | OwnBrowsers;

/** What {@link openProvider} needs from its caller. */
export interface Listening {
  /** Takes lines for the user. */
  onNote(text: string): void;
  /** Called before a call to the service is repeated. */
  onRetry?: ((refusal: Refusal) => void) | undefined;
  /** Dates signs of life of the user's own browsers, in ms since the epoch: a clock that those who judge them share. */
  beatClock?: (() => number) | undefined;
}

/** Opens what provides browsers; `close()` ends it. @throws OptionsError for a file without a provider */
export async function openProvider(choice: ProviderChoice, listening: Listening): Promise<BrowserProvider> {
  if (choice.kind !== 'hosted') return await openOwnBrowsers(choice, listening);
  const { baseURL, apiKey } = choice;
  return new HostedBrowsers(new ServiceClient({ baseURL, apiKey, onRetry: listening.onRetry ?? (() => undefined) }));
}

/** {@link openProvider} for the user's own browsers. */
export async function openOwnBrowsers(
  own: OwnBrowsers,
  { onNote, beatClock }: Omit<Listening, 'onRetry'>,
): Promise<ProvidedBrowsers> {
  if (own.kind === 'browsers') return new ProvidedBrowsers(new FixedBrowsers(own.browsers, onNote));
  return new ProvidedBrowsers(await openModule(own.file, onNote), basename(own.file), beatClock);
}
