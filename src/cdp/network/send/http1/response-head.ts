import type { HeaderList } from '../../headers/header-list.ts';

/** A response's head over HTTP/1.x, in wire text. */
export interface ResponseHead {
  status: number;
  phrase: string;
  headers: HeaderList;
  /** As the server sent it. */
  text: string;
  /** How its body ends, in lines for a strict parser. */
  framing: readonly string[];
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** How many bytes may precede a head. */
const BEFORE_BYTES = 4;

/** Whether a response begins like one: false as soon as it certainly does not. */
export function mayBeHead(data: Buffer): boolean {
  const begun = data.toString('latin1', 0, BEFORE_BYTES + 4);
  return begun.length < BEFORE_BYTES + 4 || /http/i.test(begun);
}

/** The size of the head at the beginning of the data: up to the first empty line, whatever ends its lines; or null. */
export function sizeOfHead(data: Buffer): number | null {
  for (let at = data.indexOf(10, BEFORE_BYTES); at !== -1; at = data.indexOf(10, at + 1)) {
    const next = data[at + 1] === 13 ? at + 2 : at + 1;
    if (data[next] === 10) return next + 1;
  }
  return null;
}

/**
 * Reads a head as Chromium does, which refuses little: lines that are no headers are left out.
 * @throws UnusableResponse when it is not a head at all, or when it is not certain where the body ends
 */
export function responseHead(data: string): ResponseHead {
  const text = data.slice(Math.max(0, data.search(/http/i)));
  const [first = '', ...lines] = text.split(/[\r\n]+/);
  const [, major, minor, code = '', phrase = ''] = /^http\/(\d)\.(\d) +(\d{3})\b *(.*)$/i.exec(first) ?? [];
  if (major === undefined) throw new UnusableResponse('ERR_INVALID_HTTP_RESPONSE');
  const headers: { name: string; value: string }[] = [];
  for (const line of lines) {
    const last = headers.at(-1);
    const [, name = '', value = ''] = /^([^:]*?)[ \t]*:[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (/^[ \t]/.test(line) && last) last.value = `${last.value} ${line.trim()}`;
    else if (TOKEN.test(name)) headers.push({ name, value });
  }
  const status = Number(code);
  const version = Number(major) > 0 && Number(`${major}${minor}`) > 10 ? '1.1' : '1.0';
  const framing = [`HTTP/${version} ${status} `, ...framingOf(status, headers)];
  return { status, phrase, headers, text, framing };
}

/** Chunks count more than a length, and a length that is not a number does not count. */
function framingOf(status: number, headers: HeaderList): string[] {
  const valuesOf = (wanted: string) =>
    headers.filter(({ name }) => name.toLowerCase() === wanted).flatMap(({ value }) => value.split(/[ \t]*,[ \t]*/));
  const connection = valuesOf('connection');
  const kept = connection.length > 0 ? [`connection: ${connection.join()}`] : [];
  if (status === 204 || status === 304) return kept;
  if (valuesOf('transfer-encoding').some((value) => /^chunked$/i.test(value))) {
    return [...kept, 'transfer-encoding: chunked'];
  }
  const lengths = new Set(valuesOf('content-length'));
  if (lengths.size > 1) throw new UnusableResponse('ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH');
  const [length = ''] = lengths;
  return /^\d{1,15}$/.test(length) ? [...kept, `content-length: ${length}`] : kept;
}

type Reason = 'INVALID_HTTP_RESPONSE' | `RESPONSE_HEADERS_${'MULTIPLE_CONTENT_LENGTH' | 'TOO_BIG' | 'TRUNCATED'}`;

/** A response that Chromium does not accept, either, with its name for the reason. */
export class UnusableResponse extends Error {
  readonly code: `ERR_${Reason}`;

  constructor(code: `ERR_${Reason}`) {
    super(`the server's response is not usable (${code})`);
    this.code = code;
  }
}
