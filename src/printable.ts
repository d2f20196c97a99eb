import { stripVTControlCharacters } from 'node:util';

/**
 * Text of others on a terminal and in a CI log: titles, names, IDs, messages of a service, of records from elsewhere.
 */

/** Control characters (C0, C1) and separators of lines. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Invisible characters: they reverse the reading direction or hide text. */
const INVISIBLE = /\p{Bidi_Control}|\u200b|[\u2060-\u206f]|\ufeff|[\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const LONE_SURROGATES = /\p{Cs}/gu;
/** GitHub takes a line that begins with `::name` for a command; a line may be broken at any blank. */
const COMMAND = /(^|\s)(:{2,})/g;
/** GitHub's older `##[name]` and Azure's `##vso[name]` count anywhere in a line. */
const HASH_COMMAND = /##(?=\w*\[)/g;

/**
 * `text` as one line that shows what it says: without control characters and escape sequences, line breaks, characters
 * that reverse or hide others, and without commands for a CI system. Leaves a clean text as it is.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(INVISIBLE, '')
    .replace(CONTROLS, ' ')
    .replace(LONE_SURROGATES, '\ufffd')
    .replace(COMMAND, (_, before: string, colons: string) => `${before}${[...colons].join(' ')}`)
    .replace(HASH_COMMAND, '# #');
}

/** Text of several lines, each of them {@link printable}. */
export function printableLines(text: string): string {
  return text.split(/\r?\n/).map(printable).join('\n');
}

/** `text` as one argument of a command to copy into a POSIX shell: quoted where it needs to be. */
export function shellWord(text: string): string {
  const word = printable(text);
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
