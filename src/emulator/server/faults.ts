import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { createRoute, z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import { ApiError } from '../api-error.ts';
import { type BrowserFault, browserFault, type FaultEffect, faultRules } from '../fault-rule.ts';
import type { FaultList } from '../faults/fault-list.ts';
import { type ApiEnv, createRouter, jsonBody, security } from '../http.ts';
import type { BrowserSession } from '../state/browser-session.ts';

const ACTS: Record<BrowserFault, Act> = {
  crashBrowser: (session) => session.browser?.crash(),
  stallBrowser: (session) => session.browser?.stall(),
  cutLink: (session, links) => links.cut(session),
  endSession: (session) => void session.stop(),
};
/** The faults that a test can cause immediately. */
const ACTIONS: ReadonlyMap<string, BrowserFault | 'resume'> = new Map([
  ['crash', 'crashBrowser'],
  ['stall', 'stallBrowser'],
  ['resume', 'resume'],
  ['cut', 'cutLink'],
  ['end', 'endSession'],
]);
// For tests, and not part of the service's API: `/doc` does not list these routes.
const hidden = { hide: true, security, responses: { 200: { description: 'Done' } } } as const;
const listFaults = createRoute({ method: 'get', path: '/faults', ...hidden });
const clearFaults = createRoute({ method: 'delete', path: '/faults', ...hidden });
const addFaults = createRoute({
  method: 'post',
  path: '/faults',
  request: { body: jsonBody(faultRules) },
  ...hidden,
});
const actOnSession = createRoute({
  method: 'post',
  path: '/sessions/{sessionId}/{action}',
  request: { params: z.object({ sessionId: z.string(), action: z.string() }) },
  ...hidden,
});

export interface FaultContext {
  faults: FaultList;
  /** Applies a fault to a session's browser. */
  applyFault: (session: BrowserSession, fault: BrowserFault) => void;
  /** Aborts when the emulator stops, which cancels delayed faults. */
  stopping: AbortSignal;
}

type Log = (line: string) => void;

const ofSession = v.looseObject({ sessionId: v.string() });
/** Statuses that HTTP gives no body. */
const BODILESS = new Set([204, 205, 304]);

/** Runs before the API and its authentication, as faults of the network and of the edge happen there. */
export function injectFaults({ faults, applyFault, stopping }: FaultContext, log: Log): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const firing = faults.take(c.req.method, c.req.path);
    if (!firing) return await next();
    const { effect, id } = firing;
    log(`fault ${id}: ${c.req.method} ${c.req.path}`);
    // A client that disconnects changes nothing: a slow service still handles the request.
    if (effect.delayMs) await delay(effect.delayMs, undefined, { ref: false, signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return reset(c);
    if (effect.status !== undefined) return spoiltResponse(effect, effect.status, id);
    if (effect.hang) await aborted(c.req.raw.signal);
    if (effect.hang || effect.reset) return reset(c);
    await next();
    if (effect.loseAnswer) c.res = reset(c);
    const fault = browserFault(effect);
    if (!fault) return;
    const session = await sessionOf(c);
    if (!session?.browser) return firing.takeBack();
    applyFaultAfter(effect.afterMs ?? 0, () => applyFault(session, fault), log);
  };
}

function spoiltResponse({ body, headers }: FaultEffect, status: number, id: string): Response {
  const isText = typeof body === 'string';
  const content = isText ? body : JSON.stringify(body ?? { error: `Fault ${id} of the emulator` });
  const sent = new Headers({ 'Content-Type': isText ? 'text/html; charset=UTF-8' : 'application/json' });
  for (const [name, value] of Object.entries(headers ?? {})) sent.set(name, value);
  return new Response(BODILESS.has(status) ? null : content, { status, headers: sent });
}

/** Resets the connection; without one (an app without a server), returns an unexpected response. */
function reset(c: Context<ApiEnv>): Response {
  const socket = c.env?.incoming?.socket;
  if (!socket) return new Response(null, { status: 500 });
  socket.resetAndDestroy();
  return RESPONSE_ALREADY_SENT;
}

/** Bounded by the client's patience and by the server's end, which closes every connection. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** The session that a successful response is about: named in it, else in the query. */
async function sessionOf(c: Context<ApiEnv>): Promise<BrowserSession | undefined> {
  if (!c.res.ok || !c.res.headers.get('Content-Type')?.includes('json')) return undefined;
  const about = v.safeParse(ofSession, await c.res.clone().json());
  const sessionId = about.success ? about.output.sessionId : c.req.query('sessionId');
  return c.var.workspace.sessions.find((session) => session.sessionId === sessionId);
}

/** Can cut the CDP links of sessions. */
export interface LinkCutter {
  /** Breaks the links of a session that are open now, without a close frame. */
  cut(session: BrowserSession): void;
}

type Act = (session: BrowserSession, links: LinkCutter) => void;

/** Applies a fault to a session's browser. An ended session has none: nothing happens. */
export function applyFault(session: BrowserSession, fault: BrowserFault, links: LinkCutter): void {
  ACTS[fault](session, links);
}

/** Applies the fault now or, with `ms`, later; a late failure is only logged. */
export function applyFaultAfter(ms: number, act: () => void, log: (line: string) => void): void {
  if (ms === 0) {
    act();
    return;
  }
  const later = () => {
    try {
      act();
    } catch (error) {
      log(`fault: ${(error as Error).message}`);
    }
  };
  setTimeout(later, ms).unref();
}

/** `/__emulator`: the list of faults, and faults at once. */
export function emulatorControlRoutes({ faults, applyFault }: FaultContext) {
  return createRouter()
    .openapi(listFaults, (c) => c.json({ faults: faults.list() }))
    .openapi(clearFaults, (c) => {
      faults.clear();
      return c.json({ faults: [] });
    })
    .openapi(addFaults, (c) => {
      faults.add(c.req.valid('json').faults);
      return c.json({ faults: faults.list() });
    })
    .openapi(actOnSession, (c) => {
      const { sessionId, action } = c.req.valid('param');
      const fault = ACTIONS.get(action);
      if (!fault) throw new ApiError(400, `${action}: unknown action; known are ${[...ACTIONS.keys()].join(', ')}`);
      const session = c.var.workspace.session(sessionId);
      if (!session.browser) throw new ApiError(409, `The session has no browser: it is ${session.status}`);
      if (fault === 'resume') session.browser.resume();
      else applyFault(session, fault);
      return c.json({ success: true });
    });
}
