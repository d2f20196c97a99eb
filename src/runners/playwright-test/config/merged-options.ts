import type { MergedOptions } from '../../../options/lease-plan.ts';
import { serviceName } from '../../../options/resolve-service.ts';
import { parseHostedOptions } from '../../../options/schema/parse.ts';
import type { HostedOptions } from '../../../options/schema/schema.ts';
import { redactText } from '../../../redact.ts';
import { isLocalRun } from './run-registry.ts';

/**
 * Marks a `use.hosted` that the wrapper has already merged. Without the mark, it is what a user wrote in a config
 * without the wrapper.
 */
const MERGED = Symbol.for('poolwright.merged');

/**
 * Marks options as checked and merged. The visible part contains no secrets, because every reporter and global setup
 * can read `use`.
 */
export function markMerged(options: MergedOptions): MergedOptions {
  return Object.defineProperty(withoutSecrets(options), MERGED, { value: () => options });
}

/** @throws OptionsError that names the first invalid key */
export function asMerged(value: object, where: string): MergedOptions {
  return isMarked(value) ? value[MERGED]() : parseHostedOptions(value, where);
}

/**
 * Whether a project's tests run on Playwright's own browsers: because of `hosted: false`, or `service: 'local'` in the
 * project's options, in those of the wrapper, or in the environment variable.
 * @throws OptionsError for an invalid variable
 */
export function isLocal(hosted: HostedOptions | false): boolean {
  if (hosted === false) return true;
  if (isMarked(hosted)) return false;
  if (hosted.service === undefined && isLocalRun() !== null) return isLocalRun() === true;
  return serviceName(hosted, process.env) === 'local';
}

function isMarked(value: object): value is { [MERGED]: () => MergedOptions } {
  return MERGED in value;
}

/** Options without secrets: without the key, and without credentials in any address. */
function withoutSecrets({ apiKey: _key, ...options }: MergedOptions): MergedOptions {
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
