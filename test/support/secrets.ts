/** Twelve kinds of secrets, as they get into options and variables. Each contains {@link WORD}. */

/** What no report may contain. No name, title or path of a test has it. */
export const WORD = 'Zq7vKx93Tw';

const LONG = `${WORD}LmN4pQ8rSt2uVw6xYz`;
const at = (host: string) => `http://${host}`;

/** By kind; `host` is where a browser listens. */
export const SECRETS: Record<string, (host: string) => string> = {
  'an API key': () => `sk_live_${LONG}`,
  'a bearer token': () => `Bearer ${LONG}`,
  'a signed token': () => `eyJhbGciOiJIUzI1NiJ9.${LONG}.${LONG}`,
  'a private key': () => `-----BEGIN PRIVATE KEY-----\n${LONG}${LONG}\n-----END PRIVATE KEY-----`,
  'a password in an address': (host) => at(`user:${WORD}@${host}`),
  'a password with a slash': (host) => at(`user:1/${WORD}@${host}`),
  'an escaped password': (host) => at(`user:%20${WORD}%40@${host}`),
  'a user name that is a token': (host) => at(`${LONG}@${host}`),
  'a token in a query': (host) => at(`${host}/?token=${LONG}`),
  'a query without a telling name': (host) => at(`${host}/?x=${WORD}`),
  'a token in a path': (host) => at(`${host}/${LONG}/browser`),
  'a fragment': (host) => at(`${host}/#${WORD}`),
};
