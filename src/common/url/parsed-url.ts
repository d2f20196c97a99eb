/**
 * Parses an address; null if it is none. `URL.canParse` must not be used in Node: once it is optimized, Node 20 takes
 * the bytes of a text such as `http://bücher.example` for UTF-8, and returns false.
 */
export function parsedUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** An address as a request for it has it. */
export function withoutFragment(url: string): string {
  const parsed = parsedUrl(url);
  if (!parsed) return url;
  parsed.hash = '';
  return parsed.href;
}
