import { parsedUrl } from './parsed-url.ts';

/** An address as a request for it has it. */
export function withoutFragment(url: string): string {
  const parsed = parsedUrl(url);
  if (!parsed) return url;
  parsed.hash = '';
  return parsed.href;
}
