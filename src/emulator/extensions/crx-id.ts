import { createHash, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/** The bytes of a manifest's `key`: Base64, PEM's first and last line allowed. Undefined: it is none. */
export function publicKeyBytes(key: string): Buffer | undefined {
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
