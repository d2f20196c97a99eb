import * as z from 'zod';
import { LIMITS } from '../limits.ts';

/** The fields that sessions and pool templates share (sections 2.2 and 4.2 of the service document). */

const { width, height } = LIMITS;

function isSize(value: string): boolean {
  const match = /^(\d{1,5})x(\d{1,5})$/.exec(value);
  if (!match) return false;
  const [w, h] = [Number(match[1]), Number(match[2])];
  return w >= width.min && w <= width.max && h >= height.min && h <= height.max;
}

const sizeField = z.string().refine(isSize, {
  error: `must match WIDTHxHEIGHT, width ${width.min} to ${width.max} and height ${height.min} to ${height.max}, for example 1280x720`,
});

/** What a proxy reference may be: a SOCKS5 or SOCKS5H URL, or one of the `dedicated://` forms. */
export function isProxyReference(value: string): boolean {
  if (/^dedicated:\/\//i.test(value)) return true; // its spec is the service's to judge (`code: invalid_spec`)
  if (!/^socks5h?:\/\//i.test(value)) return false;
  try {
    const url = new URL(value);
    return url.hostname !== '' && (url.pathname === '' || url.pathname === '/') && url.search === '' && url.hash === '';
  } catch {
    return false;
  }
}

const proxyUrlField = z.string().refine(isProxyReference, {
  error:
    'must be a SOCKS5 or SOCKS5H URL (socks5://user:password@host:port) or a dedicated address (dedicated://<ip>, dedicated://any, dedicated://any~country-XX); HTTP proxies are not supported',
});

const profileField = z.strictObject({
  name: z.string().min(1).describe('Name of the profile; made when it does not exist yet.'),
  persist: z.boolean().optional().describe('Save the profile after the session completes.'),
});

const countryField = z
  .string()
  .regex(/^[A-Za-z]{2}$/, `must be exactly ${LIMITS.country.length} letters, for example US or DE`);
const timezoneField = z.string().min(LIMITS.timezone.min).max(LIMITS.timezone.max);
const languageField = z.string().min(LIMITS.language.min).max(LIMITS.language.max);
export const noteField = z.string().max(LIMITS.note.max);

/** The browser settings that a create body and a pool template have in common. */
export const browserFields = {
  nodeId: z.string().min(1).optional().describe('Node to run on; takes precedence over `country` and `type`.'),
  country: countryField.optional().describe('Placement and locale. Default `US`, or derived from a SOCKS exit.'),
  url: z.string().min(1).optional().describe('Address opened right after launch.'),
  proxyUrl: proxyUrlField.optional().describe('Explicit SOCKS5 or SOCKS5H URL, or a `dedicated://` reference.'),
  windowSize: sizeField.optional().describe('Outer browser window, `WIDTHxHEIGHT`.'),
  displaySize: sizeField.optional().describe('Virtual display, `WIDTHxHEIGHT`.'),
  timezone: timezoneField.optional().describe('IANA zone listed for the country.'),
  language: languageField.optional().describe('BCP-47 tag listed for the country; US accepts only `en-US`.'),
  profile: profileField.optional(),
  adblock: z.boolean().optional(),
  captchaSolver: z.boolean().optional(),
  extensionIds: z.array(z.string().min(1)).optional().describe('Internal IDs from the extensions API.'),
  note: noteField.optional(),
};
