import { isIP } from 'node:net';
import type * as z from 'zod';
import type { poolBrowserTemplate } from '../../service/schemas/pool.ts';
import type { createSessionRequest } from '../../service/schemas/session.ts';
import { ApiError } from '../api-error.ts';
import type { BrowserSpec } from '../browser-spec.ts';
import { fullBecause } from '../chromium/choose-chromium.ts';
import type { DedicatedIpSettings } from '../options.ts';
import { type LocaleRequest, resolveLocale } from './locale.ts';

/** A `proxyUrl` that names a dedicated address. */
const DEDICATED = /^dedicated:\/\/(?:(any)(?:~country-([a-z]{2}))?|([^/?#@\s]+?))\/?$/i;

export type CreateBody = z.output<typeof createSessionRequest>;
export type TemplateBody = z.output<typeof poolBrowserTemplate>;

/** Chosen so that a page fits as on an ordinary desktop. */
const DEFAULT_DISPLAY = '1920x1080';
const DEFAULT_WINDOW = '1280x800';

/**
 * Accepted, because a suite that names them should run here, and without effect: nothing on this machine does what they
 * ask for.
 */
const WITHOUT_EFFECT = ['captchaSolver', 'ttsLanguage', 'gpu'] as const;

/** The fields of a create body or a pool template that this emulator does nothing about. */
export function fieldsWithoutEffect(body: CreateBody & TemplateBody): string[] {
  return WITHOUT_EFFECT.filter((field) => body[field] !== undefined && body[field] !== false);
}

/**
 * The browser that a create body or a pool template asks for.
 * @param dedicatedIps the workspace's own addresses
 * @throws ApiError 400 naming the field, and as {@link findDedicatedIp}
 */
export function browserSpec(
  body: CreateBody & TemplateBody,
  dedicatedIps: readonly DedicatedIpSettings[] = [],
): BrowserSpec {
  const exit = isDedicated(body.proxyUrl) ? findDedicatedIp(body.proxyUrl, dedicatedIps) : undefined;
  const locale = resolveLocale(exit ? throughExit(body, exit) : body);
  return {
    ...locale,
    type: body.type ?? 'hosted',
    fullBecause: fullBecause(body),
    acceptLanguage: body.acceptLang ?? acceptLanguage(locale.language),
    windowSize: body.windowSize ?? combined(DEFAULT_WINDOW, body.displaySize, Math.min),
    displaySize: body.displaySize ?? combined(DEFAULT_DISPLAY, body.windowSize, Math.max),
    disableSpeechApi: body.disableSpeechApi ?? false,
    url: body.url,
    browserCheck: body.browserCheck ?? false,
    adblock: body.adblock ?? false,
    proxyUrl: exit?.proxyUrl ?? body.proxyUrl,
  };
}

/**
 * `de-DE` → `de-DE,de,en-US,en`, as a Chromium in that language has it. To a new (off-the-record) context Chromium
 * gives what it derives from the first of them, which is then the same.
 */
function acceptLanguage(language: string): string {
  const [primary = language] = language.split('-');
  return [...new Set([language, primary, 'en-US', 'en'])].join(',');
}

function combined(a: string, b = a, pick: (a: number, b: number) => number): string {
  const [aWidth = 0, aHeight = 0] = a.split('x').map(Number);
  const [bWidth = 0, bHeight = 0] = b.split('x').map(Number);
  return `${pick(aWidth, bWidth)}x${pick(aHeight, bHeight)}`;
}

/** Whether a `proxyUrl` names a dedicated address. */
function isDedicated(proxyUrl: string | undefined): proxyUrl is string {
  return proxyUrl !== undefined && /^dedicated:/i.test(proxyUrl);
}

/**
 * The address of the workspace that a `dedicated://` reference names (sections 4.2 and 7 of the service document).
 * @throws ApiError 400 `invalid_spec`, 403 `dedicated_ip_not_owned`, 404 `no_dedicated_ip`, 503
 * `dedicated_ip_unhealthy`
 */
function findDedicatedIp(proxyUrl: string, owned: readonly DedicatedIpSettings[]): DedicatedIpSettings {
  const [, any, country, ip] = DEDICATED.exec(proxyUrl) ?? [];
  if (!any && (ip === undefined || isIP(ip.replace(/^\[|\]$/g, '')) === 0)) {
    const forms = 'dedicated://<ip>, dedicated://any or dedicated://any~country-XX';
    throw new ApiError(400, `proxyUrl: not a dedicated IP; it must be ${forms}`, { code: 'invalid_spec' });
  }
  const matching = owned.filter((each) =>
    any ? country === undefined || each.country === country.toUpperCase() : sameIp(each.ip, ip),
  );
  if (matching.length === 0) throw any ? noneMatches(proxyUrl) : notOwned(proxyUrl);
  const healthy = matching.find((each) => each.healthy);
  if (healthy) return healthy;
  const message = `proxyUrl: ${matching[0]?.ip} failed its last health check`;
  throw new ApiError(503, message, { code: 'dedicated_ip_unhealthy' });
}

/**
 * Country and timezone are those of the dedicated address; what a body says of them has to agree. @throws ApiError 400
 */
function throughExit(body: LocaleRequest, { ip, country, timezone }: DedicatedIpSettings): LocaleRequest {
  if (body.country !== undefined && body.country.toUpperCase() !== country) {
    throw new ApiError(400, `country: ${body.country} does not match ${ip}, which is in ${country}`);
  }
  return { ...body, country, timezone: body.timezone ?? timezone };
}

function sameIp(one: string, other = ''): boolean {
  return one.toLowerCase() === other.replace(/^\[|\]$/g, '').toLowerCase();
}

function notOwned(proxyUrl: string): ApiError {
  return new ApiError(403, `proxyUrl: ${proxyUrl} is not an address of this workspace`, {
    code: 'dedicated_ip_not_owned',
  });
}

function noneMatches(proxyUrl: string): ApiError {
  return new ApiError(404, `proxyUrl: the workspace has no dedicated IP for ${proxyUrl}`, { code: 'no_dedicated_ip' });
}
