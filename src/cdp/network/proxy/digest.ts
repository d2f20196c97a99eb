import { createHash, randomBytes } from 'node:crypto';

/** The hash of each algorithm that Chromium knows; `-sess` after it is a variant. */
const HASHES: Readonly<Record<string, string>> = { md5: 'md5', 'sha-256': 'sha256' };
const PARAMETER = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g;

/** What is requested, and by whom. */
interface Asked {
  method: string;
  /** Path and query. */
  uri: string;
  username: string;
  password: string;
}

/**
 * The `Authorization` that answers a `Digest` challenge (RFC 7616); null if the challenge asks for what Chromium does
 * not know, either.
 */
export function digest(challenge: string, { method, uri, username, password }: Asked): string | null {
  const given: Record<string, string> = {};
  for (const [, name = '', quoted, token] of challenge.replace(/^\s*digest\s+/i, '').matchAll(PARAMETER))
    given[name.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? '';
  const { realm = '', nonce, opaque, algorithm = 'MD5', qop } = given;
  const [, name = '', session] = /^(.*?)(-sess)?$/i.exec(algorithm.toLowerCase()) ?? [];
  const hash = HASHES[name];
  const isAuth = qop?.split(',').some((each) => each.trim().toLowerCase() === 'auth');
  if (hash === undefined || nonce === undefined || isAuth === false) return null;
  const of = (...parts: string[]) => createHash(hash).update(parts.join(':')).digest('hex');
  // One request for each nonce.
  const [count, own] = ['00000001', randomBytes(8).toString('hex')];
  const user = of(username, realm, password);
  const who = session === undefined ? user : of(user, nonce, own);
  const what = of(method, uri);
  const response = isAuth ? of(who, nonce, count, own, 'auth', what) : of(who, nonce, what);
  const quote = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  const fields = [
    `username=${quote(username)}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri=${quote(uri)}`,
    `algorithm=${algorithm}`,
    `response=${quote(response)}`,
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
    ...(isAuth || session !== undefined ? [`qop=auth`, `nc=${count}`, `cnonce=${quote(own)}`] : []),
  ];
  return `Digest ${fields.join(', ')}`;
}
