import { isIP } from 'node:net';
import { ApiError } from '../../api-error.ts';
import type { DedicatedIpSettings } from '../../options.ts';
import type { LocaleRequest } from '../locale.ts';

const SPEC = /^dedicated:\/\/(?:(any)(?:~country-([a-z]{2}))?|([^/?#@\s]+?))\/?$/i;

/** Whether a `proxyUrl` names a dedicated address. */
export function isDedicated(proxyUrl: string | undefined): proxyUrl is string {
  return proxyUrl !== undefined && /^dedicated:/i.test(proxyUrl);
}

/**
 * The address of the workspace that a `dedicated://` reference names (sections 4.2 and 7 of the service document).
 * @throws ApiError 400 `invalid_spec`, 403 `dedicated_ip_not_owned`, 404 `no_dedicated_ip`, 503
 * `dedicated_ip_unhealthy`
 */
export function findDedicatedIp(proxyUrl: string, owned: readonly DedicatedIpSettings[]): DedicatedIpSettings {
  const [, any, country, ip] = SPEC.exec(proxyUrl) ?? [];
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
export function throughExit(body: LocaleRequest, { ip, country, timezone }: DedicatedIpSettings): LocaleRequest {
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
