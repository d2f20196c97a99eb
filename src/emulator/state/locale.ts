import { ApiError } from '../api-error.ts';

/**
 * Country, timezone and language of a session, resolved coherently (rule 1 of section 4.2) from what ICU knows: the
 * zones in use in a country and its likely language.
 */

/** ICU lists a country's zones by name; where there are several, this is the one most people live in. */
const DOMINANT_ZONES: Readonly<Record<string, string>> = {
  AR: 'America/Argentina/Buenos_Aires',
  AU: 'Australia/Sydney',
  BR: 'America/Sao_Paulo',
  CA: 'America/Toronto',
  CD: 'Africa/Kinshasa',
  CL: 'America/Santiago',
  CN: 'Asia/Shanghai',
  EC: 'America/Guayaquil',
  ES: 'Europe/Madrid',
  ID: 'Asia/Jakarta',
  KZ: 'Asia/Almaty',
  MN: 'Asia/Ulaanbaatar',
  MX: 'America/Mexico_City',
  MY: 'Asia/Kuala_Lumpur',
  NZ: 'Pacific/Auckland',
  PT: 'Europe/Lisbon',
  RU: 'Europe/Moscow',
  US: 'America/New_York',
};

const DEFAULT_COUNTRY = 'US';
const US_LANGUAGE = 'en-US';

export interface LocaleRequest {
  country?: string | undefined;
  timezone?: string | undefined;
  language?: string | undefined;
}

export interface ResolvedLocale {
  country: string;
  timezone: string;
  language: string;
}

/** @throws ApiError 400 naming the field. */
export function resolveLocale(request: LocaleRequest): ResolvedLocale {
  const country = (request.country ?? DEFAULT_COUNTRY).toUpperCase();
  const zones = zonesOf(country);
  if (zones.length === 0) throw new ApiError(400, `country: ${country} is not a supported country`);
  return { country, timezone: zoneFor(request.timezone, country, zones), language: languageFor(request, country) };
}

function zoneFor(timezone: string | undefined, country: string, zones: string[]): string {
  if (timezone === undefined) return DOMINANT_ZONES[country] ?? (zones[0] as string);
  const canonical = canonicalZone(timezone);
  if (canonical === undefined) throw new ApiError(400, `timezone: ${timezone} is not an IANA timezone`);
  // ICU may list a zone under an older name (Asia/Calcutta).
  if (!zones.some((zone) => canonicalZone(zone) === canonical)) {
    throw new ApiError(400, `timezone: ${timezone} is not a supported timezone for ${country}`);
  }
  return timezone;
}

function languageFor({ language }: LocaleRequest, country: string): string {
  if (language === undefined) return likelyLanguage(country);
  const canonical = canonicalLanguage(language);
  if (canonical === undefined) throw new ApiError(400, `language: ${language} is not a BCP-47 language tag`);
  if (country === DEFAULT_COUNTRY && canonical !== US_LANGUAGE) {
    throw new ApiError(400, `language: ${language} is not supported for US, whose sessions accept only ${US_LANGUAGE}`);
  }
  return canonical;
}

function likelyLanguage(country: string): string {
  return `${new Intl.Locale(`und-${country}`).maximize().language}-${country}`;
}

function zonesOf(country: string): string[] {
  // A property in Node 20, a method in later ones; TypeScript's library knows neither.
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & {
    timeZones?: string[];
    getTimeZones?: () => string[] | undefined;
  };
  return locale.timeZones ?? locale.getTimeZones?.() ?? [];
}

function canonicalZone(timezone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

function canonicalLanguage(language: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(language)[0];
  } catch {
    return undefined;
  }
}
