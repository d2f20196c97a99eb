import type * as z from 'zod';
import type { poolBrowserTemplate } from '../../service/schemas/pool.ts';
import type { createSessionRequest } from '../../service/schemas/session.ts';
import type { BrowserSpec } from '../browser-spec.ts';
import { fullBecause } from '../chromium/choose-chromium.ts';
import type { DedicatedIpSettings } from '../options.ts';
import { resolveLocale } from './locale.ts';
import { findDedicatedIp, isDedicated, throughExit } from './stores/dedicated-ips.ts';

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
    windowSize: body.windowSize ?? smaller(DEFAULT_WINDOW, body.displaySize),
    displaySize: body.displaySize ?? larger(DEFAULT_DISPLAY, body.windowSize),
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

function smaller(size: string, limit: string | undefined): string {
  return limit === undefined ? size : combine(size, limit, Math.min);
}

function larger(size: string, least: string | undefined): string {
  return least === undefined ? size : combine(size, least, Math.max);
}

function combine(a: string, b: string, pick: (a: number, b: number) => number): string {
  const [aWidth = 0, aHeight = 0] = a.split('x').map(Number);
  const [bWidth = 0, bHeight = 0] = b.split('x').map(Number);
  return `${pick(aWidth, bWidth)}x${pick(aHeight, bHeight)}`;
}
