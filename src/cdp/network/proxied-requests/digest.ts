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

interface Challenge {
  realm: string;
  nonce: string;
  opaque: string | undefined;
  /** As the server wrote it. */
  algorithm: string;
  hash: string;
  isSession: boolean;
  /** Whether it knows `qop=auth`; older servers know none. */
  isAuth: boolean;
}

/** Reads a `Digest` challenge (RFC 7616); null if it asks for what Chromium does not know, either. */
export function digestChallenge(text: string): Challenge | null {
  const given: Record<string, string> = {};
  for (const [, name = '', quoted, token] of text.replace(/^\s*digest\s+/i, '').matchAll(PARAMETER))
    given[name.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? '';
  const { realm = '', nonce, opaque, algorithm = 'MD5', qop } = given;
  const [, name = '', session] = /^(.*?)(-sess)?$/i.exec(algorithm.toLowerCase()) ?? [];
  const hash = HASHES[name];
  const isAuth = qop?.split(',').some((each) => each.trim().toLowerCase() === 'auth');
  if (hash === undefined || nonce === undefined || isAuth === false) return null;
  return { realm, nonce, opaque, algorithm, hash, isSession: session !== undefined, isAuth: isAuth === true };
}

/** The `Authorization` that answers a challenge. */
export function digest(
  { realm, nonce, opaque, algorithm, hash, isSession, isAuth }: Challenge,
  { method, uri, username, password }: Asked,
): string {
  const of = (...parts: string[]) => createHash(hash).update(parts.join(':')).digest('hex');
  // One request for each nonce.
  const [count, own] = ['00000001', randomBytes(8).toString('hex')];
  const user = of(username, realm, password);
  const who = isSession ? of(user, nonce, own) : user;
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
    ...(isAuth ? ['qop=auth', `nc=${count}`] : []),
    ...(isAuth || isSession ? [`cnonce=${quote(own)}`] : []),
  ];
  return `Digest ${fields.join(', ')}`;
}
