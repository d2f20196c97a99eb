import { redactText } from '../redact.ts';
import type { MergedOptions } from './lease-plan.ts';

/** Options without secrets: without the key, and without credentials in any address. */
export function withoutSecrets({ apiKey: _key, ...options }: MergedOptions): MergedOptions {
  return masked(options) as MergedOptions; // texts stay texts, and nothing else is touched
}

function masked(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return name === 'proxyUrl' ? maskedProxy(value) : redactText(value);
  if (Array.isArray(value)) return value.map((item) => masked(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, key)]));
}

/** The whole text is the address: its password may hold what ends an address in a sentence. */
function maskedProxy(address: string): string {
  return address.replace(/^([a-z0-9+.-]+:\/\/).*@/is, '$1***@');
}
