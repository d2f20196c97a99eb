import * as z from 'zod';
import { createPoolRequest, createSessionRequest } from '../../service/schemas/index.ts';
import type { ContextOption } from '../context-mode.ts';
import { ACQUIRE_TIMEOUT_MS, SERVICES } from '../defaults.ts';
import { parseExposure } from '../expose-network.ts';
import type { IdentityOption } from '../identity.ts';
import { NetworkRuleError } from '../network-rules.ts';
import { type Budget, budgetOption } from './budget.ts';

/** What a user may write: the second argument of `withHostedBrowsers`, and `use.hosted` of a project. */

/** A pool made for this run: a pool body whose name and size are filled in when they are left out. */
const runPool = z.strictObject({ create: createPoolRequest.partial({ name: true, size: true }) });

const poolOption = z.union([z.string().min(1), runPool]);

const acquireTimeout = z.number().min(ACQUIRE_TIMEOUT_MS.min).max(ACQUIRE_TIMEOUT_MS.max);

/** Rules that can be read. */
const exposeNetwork = z.string().superRefine((text, context) => {
  try {
    parseExposure(text);
  } catch (error) {
    if (!(error instanceof NetworkRuleError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});

const contextOption = z.union([
  z.enum(['auto', 'isolated', 'persistent']),
  z.strictObject({ mode: z.literal('persistent'), clear: z.boolean().optional() }),
]);

const projectFields = {
  pool: poolOption.optional(),
  fallback: z.enum(['session', 'fail']).optional(),
  session: createSessionRequest.optional(),
  reuse: z.enum(['run', 'worker', 'test']).optional(),
  acquireTimeout: acquireTimeout.optional(),
  metering: z.boolean().optional(),
  ahead: z.boolean().optional(),
  exposeNetwork: exposeNetwork.optional(),
  context: contextOption.optional(),
  identity: z.enum(['keep', 'override']).optional(),
};

/** Options of one project (`use.hosted`). */
export const projectHostedOptions = z.strictObject(projectFields);

/** Options of the run; the first four hold for every project of it. */
export const hostedOptions = z.strictObject({
  service: z.enum(SERVICES).optional(),
  baseURL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  apiKey: z.string().min(1).optional(),
  budget: budgetOption.optional(),
  ...projectFields,
});

/** A pool made for this run: sized to its workers unless `size` is given, deleted after it. */
export type RunPoolOptions = z.input<typeof runPool>;

/** What `use.hosted` of a project takes; `false` keeps the project on a local browser. */
export interface ProjectHostedOptions {
  /**
   * ID (or unique name) of the pool to lease from, or `{ create: {…} }`: a pool made for this run, sized to its
   * workers, deleted after it. Default: environment variable `POOLWRIGHT_POOL`, as it is when the run begins; without
   * it, sessions are created.
   * A project that names `session` but no `pool` does not lease from the run's pool.
   */
  pool?: string | RunPoolOptions;
  /** When the pool has nothing after bounded waiting: create a session, or fail. Default `'session'`. */
  fallback?: 'session' | 'fail';
  /** Fields of the session to create, as in section 4.2 of the service document. Default `{}`. */
  session?: z.input<typeof createSessionRequest>;
  /**
   * `'run'`: a healthy browser outlives the worker and is handed to the one that replaces it. `'worker'`: a new
   * browser with each worker. `'test'`: a fresh browser for every test. Default `'run'`.
   */
  reuse?: 'run' | 'worker' | 'test';
  /** Bound on getting one browser, all retries included, in ms: 1 000 to 3 600 000. Default 120 000. */
  acquireTimeout?: number;
  /** Observe the bytes each test's pages move. Default `true`. */
  metering?: boolean;
  /**
   * Hides round trips to a browser that is 5 ms and more away: the next test's context is made while the present one
   * runs, and what Playwright will ask for is asked for before. Environment variable `POOLWRIGHT_AHEAD` turns it off
   * (`0`) or on (`1`) everywhere. Default `true`. With Puppeteer round trips are not hidden: `true` is an error there.
   */
  ahead?: boolean;
  /**
   * Hosts that pages of the hosted browser reach through this machine, such as the suite's own server: rules between
   * commas, in Playwright's syntax, each a host (`staging.internal`), hosts (`*.internal`), an IP address,
   * `<loopback>`, or `*` for every host, with an optional `:port`. `'none'` (or `''`): none. `'auto'` (default):
   * `<loopback>` when `use.baseURL` or a `webServer` is there (one that names no address is); else what the test itself
   * goes to on this machine's loopback, by `page.goto()`, from then on in that context, for pages of it and for no
   * others. As a rule among others, `auto` means that last part. A malformed rule is an OptionsError that names it.
   */
  exposeNetwork?: string;
  /**
   * `'isolated'`: a new context per test. `'persistent'`: the browser's own context, the only one with its profile and
   * extensions; what the test opened is closed after it, cookies and storage stay. With `{ mode: 'persistent', clear:
   * true }` those are cleared after each test too. `'auto'` (default): persistent where the session or the pool's
   * template names a `profile` or `extensionIds`, else isolated.
   */
  context?: ContextOption;
  /**
   * `'keep'`: the browser stays what it is; user agent, viewport, screen, scale, touch, locale, timezone and colour
   * scheme from `use` (such as `devices[…]`) are dropped, which is said once. `'override'`: they are applied. Default:
   * `'keep'` for `hosted_stealth` and `hosted_privacy`, `'override'` for `hosted`.
   */
  identity?: IdentityOption;
}

/** Options of `withHostedBrowsers`. An unknown key is an error that names it and the nearest known one. */
export interface HostedOptions extends ProjectHostedOptions {
  /**
   * `'hosted'`: the service. `'emulator'`: the emulator of it on this machine. `'local'`: Playwright's own browsers, as
   * without poolwright. `'auto'`: the service when a key is set, else the emulator; in CI (`CI` set) a missing key is
   * an error. Default: environment variable `POOLWRIGHT_SERVICE`, else `'auto'`.
   */
  service?: 'auto' | 'hosted' | 'emulator' | 'local';
  /** Address of the service. Default: environment variable `POOLWRIGHT_BASE_URL`. */
  baseURL?: string;
  /** Workspace API key. Default: environment variable `POOLWRIGHT_API_KEY`. */
  apiKey?: string;
  /** What the run may use; more makes it fail. Default: no limit. */
  budget?: Budget;
}
