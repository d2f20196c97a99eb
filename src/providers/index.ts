export type {
  ListedBrowser,
  ProvidedBrowser,
  Provider,
  ProviderErrorCode,
  ProviderRequest,
  ReleaseReason,
} from './provider.ts';
export { defineProvider, ProviderError } from './provider.ts';
