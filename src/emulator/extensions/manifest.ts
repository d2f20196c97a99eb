import { createHash, generateKeyPair } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { parsedJson } from '../../common/text/parsed-json.ts';
import { ApiError } from '../api-error.ts';

/** As Chrome has it: one to four numbers, each up to 65535. */
const versionField = z
  .string()
  .refine(
    (value) => /^\d+(\.\d+){0,3}$/.test(value) && value.split('.').every((part) => Number(part) <= 65_535),
    'must be one to four numbers up to 65535 with dots between them, for example 1.2.3',
  );

/** The required fields. Chromium checks the others. */
const manifestSchema = z.looseObject({
  manifest_version: z.union([z.literal(2), z.literal(3)], { error: 'must be 2 or 3' }),
  name: z.string({ error: 'is required: a string' }).trim().min(1, 'must not be empty'),
  version: versionField,
  key: z
    .string()
    .refine((value) => publicKeyBytes(value) !== undefined, 'must be a public key in Base64')
    .optional(),
  default_locale: z
    .string()
    .regex(/^[\w-]+$/, 'must be the name of a directory in _locales')
    .optional(),
});

export type Manifest = z.output<typeof manifestSchema>;

/**
 * The manifest of an unpacked extension.
 * @throws ApiError 400 naming the field
 */
export async function readManifest(directory: string): Promise<Manifest> {
  const text = await readFile(join(directory, 'manifest.json'), 'utf8').catch(() => undefined);
  if (text === undefined) refuse('is missing: it must be at the root of the ZIP, not in a directory of it');
  const parsed = manifestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  refuse(`${path ? `${path}: ` : ''}${issue?.message ?? 'not valid'}`);
}

const messages = z.record(z.string(), z.looseObject({ message: z.string() }));

/** The extension's name as people see it: `__MSG_x__` stands for a text in its default language. */
export async function displayName(directory: string, { name, default_locale }: Manifest): Promise<string> {
  const key = /^__MSG_(\w+)__$/.exec(name)?.[1]?.toLowerCase();
  if (key === undefined || default_locale === undefined) return name;
  const file = join(directory, '_locales', default_locale, 'messages.json');
  const parsed = messages.safeParse(parseJson(await readFile(file, 'utf8').catch(() => '')));
  const found = Object.entries(parsed.data ?? {}).find(([each]) => each.toLowerCase() === key);
  return found?.[1].message ?? name;
}

function parseJson(text: string): unknown {
  return parsedJson(text.replace(/^\uFEFF/, ''));
}

function refuse(problem: string): never {
  throw new ApiError(400, `extension: manifest.json: ${problem}`);
}

/** The bytes of a manifest's `key`: Base64, PEM's first and last line allowed. Undefined: it is none. */
function publicKeyBytes(key: string): Buffer | undefined {
  const text = key.replace(/-----(BEGIN|END) PUBLIC KEY-----/g, '').replace(/\s/g, '');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

/**
 * A `key` for a manifest that has none. Without one, Chromium derives the ID from the directory, which always differs.
 */
export async function newPublicKey(): Promise<string> {
  const { publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

/**
 * The ID that Chromium gives an extension with this `key`: the first 128 bits of its SHA-256, in the letters a to p.
 */
export function crxId(key: string): string {
  const hash = createHash('sha256')
    .update(publicKeyBytes(key) ?? '')
    .digest('hex');
  return [...hash.slice(0, 32)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join('');
}
