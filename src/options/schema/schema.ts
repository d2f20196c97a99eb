import * as z from 'zod';
import { createPoolRequest, createSessionRequest } from '../../service/schemas/index.ts';
import type { ContextOption } from '../context-mode.ts';
import { ACQUIRE_TIMEOUT_MS, SERVICES } from '../defaults.ts';
import { parseExposure } from '../expose-network.ts';
import type { IdentityOption } from '../identity.ts';
import { NetworkRuleError } from '../network-rules.ts';
import { relayProblem } from './relay-address.ts';
import { type Budget, budgetOption, type ShardsOption, shardsOption } from './reporter.ts';

/** The user's options: the second argument of `withHostedBrowsers`, and `use.hosted` of a project. */

/** A pool created for this run: a pool body whose name and size are optional. */
const runPool = z.strictObject({ create: createPoolRequest.partial({ name: true, size: true }) });

const poolOption = z.union([z.string().min(1), runPool]);

const acquireTimeout = z.number().min(ACQUIRE_TIMEOUT_MS.min).max(ACQUIRE_TIMEOUT_MS.max);

/** Valid rules. */
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

const relayOption = z.string().superRefine((address, context) => {
  const message = relayProblem(address);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

/** A browser that runs already. */
const fixedBrowser = z.union([
  z.string().min(1),
  z.strictObject({ url: z.string().min(1), max: z.int().min(1).optional() }),
]);

const projectFields = {
  pool: poolOption.optional(),
  fallback: z.enum(['session', 'fail']).optional(),
  session: createSessionRequest.optional(),
  reuse: z.enum(['run', 'worker', 'test']).optional(),
  acquireTimeout: acquireTimeout.optional(),
  metering: z.boolean().optional(),
  ahead: z.boolean().optional(),
  film: z.enum(['off', 'retain-on-failure', 'on']).optional(),
  exposeNetwork: exposeNetwork.optional(),
  context: contextOption.optional(),
  identity: z.enum(['keep', 'override']).optional(),
  relay: relayOption.optional(),
};

/** Options of one project (`use.hosted`). */
export const projectHostedOptions = z.strictObject(projectFields);

/** Options of the run; those that a project does not have apply to all of them. */
export const hostedOptions = z.strictObject({
  service: z.enum(SERVICES).optional(),
  browsers: z.array(fixedBrowser).min(1).optional(),
  provider: z.string().min(1).optional(),
  baseURL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  apiKey: z.string().min(1).optional(),
  budget: budgetOption.optional(),
  evidence: z.boolean().optional(),
  workers: z.union([z.literal('auto'), z.number().int().min(1)]).optional(),
  shards: shardsOption.optional(),
  ...projectFields,
});

/** A pool created for this run and deleted after it. `size` defaults to its number of workers. */
export type RunPoolOptions = z.input<typeof runPool>;

/** The options of a project's `use.hosted`; `false` keeps the project on a local browser. */
export interface ProjectHostedOptions {
  /**
   * ID or unique name of the pool to lease from, or `{ create: {…} }`: a pool created for this run, sized to its
   * workers, and deleted after it. Default: environment variable `POOLWRIGHT_POOL` at the start of the run; without it,
   * sessions are created. A project that sets `session` but no `pool` does not use the run's pool.
   */
  pool?: string | RunPoolOptions;
  /** If the pool still has no browser after waiting: create a session, or fail. Default `'session'`. */
  fallback?: 'session' | 'fail';
  /** Fields of the sessions to create, as in section 4.2 of the service document. Default `{}`. */
  session?: z.input<typeof createSessionRequest>;
  /**
   * `'run'`: a healthy browser outlives its worker and goes to the next one. `'worker'`: a new browser for each worker.
   * `'test'`: a new browser for each test. Default `'run'`.
   */
  reuse?: 'run' | 'worker' | 'test';
  /** Time limit for getting one browser, with all retries, in ms: 1 000 to 3 600 000. Default 120 000. */
  acquireTimeout?: number;
  /** Count the bytes that each test's pages transfer. Default `true`. */
  metering?: boolean;
  /**
   * Hides round trips to a browser that is 5 ms or more away: the next test's context is created while the current test
   * runs, and predictable commands are sent early. The environment variable `POOLWRIGHT_AHEAD` turns it off (`0`) or on
   * (`1`) for all projects. Default `true`.
   */
  ahead?: boolean;
  /**
   * The last 20 seconds of each page as pictures, in one HTML file per test: of failed tests, or of all. Attached to
   * the test in Playwright, else in `test-results/poolwright/film`. Default `'off'`. Not for scripts.
   */
  film?: 'off' | 'retain-on-failure' | 'on';
  /**
   * Hosts that pages of the hosted browser reach through this machine, such as the suite's server. Rules in
   * Playwright's syntax, separated by commas: a host (`staging.internal`), hosts (`*.internal`), an IP address,
   * `<loopback>`, or `*` for every host, each with an optional `:port`. `'none'` (or `''`): no host. `'auto'`
   * (default): `<loopback>` if `use.baseURL` or a `webServer` is on loopback (a server without an address counts), and
   * otherwise what the test itself visits on loopback with `page.goto()`, from then on, in that context, and only for
   * pages from there. In a list, `auto` means that second part. A malformed rule is an OptionsError that names it.
   */
  exposeNetwork?: string;
  /**
   * `'isolated'`: a new context for each test. `'persistent'`: the browser's own context, the only one with its profile
   * and extensions; pages are closed after each test, but cookies and storage stay. `{ mode: 'persistent', clear: true
   * }` also clears these. `'auto'` (default): persistent if the session or the pool's template names a `profile` or
   * `extensionIds`, else isolated.
   */
  context?: ContextOption;
  /**
   * `'keep'`: ignore user agent, viewport, screen, scale, touch, locale, timezone and colour scheme from `use` (such as
   * `devices[…]`), and name them once. `'override'`: apply them. Default: `'keep'` for `hosted_stealth` and
   * `hosted_privacy`, `'override'` for `hosted`.
   */
  identity?: IdentityOption;
  /**
   * Beta, Playwright only: the `wss://` address of a `poolwright relay` near the browsers, see `docs/relay.md`.
   * `'none'`: no relay. Default: environment variable `POOLWRIGHT_RELAY`; without it, none.
   */
  relay?: string;
}

/** Options of `withHostedBrowsers`. An unknown key is an error that names the nearest known key. */
export interface HostedOptions extends ProjectHostedOptions {
  /**
   * `'hosted'`: the service. `'emulator'`: its emulator on this machine. `'local'`: Playwright's browsers, as without
   * poolwright. `'auto'`: the service if a key is set, else the emulator; in CI (`CI` set) a missing key is an error.
   * Default: environment variable `POOLWRIGHT_SERVICE`, else `'auto'`.
   */
  service?: 'auto' | 'hosted' | 'emulator' | 'local';
  /**
   * Browsers that run already, in place of the service's: addresses of their debugging port (`http://localhost:9222`)
   * or of their CDP (`ws://…`). Each serves one worker at a time, or `max` where every connection gets a separate
   * browser. They are not ended. Default: environment variable `POOLWRIGHT_CDP_URL`, with commas between several.
   */
  browsers?: (string | { url: string; max?: number })[];
  /**
   * A file, relative to the config, that starts and ends browsers of any other service: its default export is a
   * `defineProvider({ … })` of `poolwright/provider`. Default: environment variable `POOLWRIGHT_PROVIDER`, relative to
   * the working directory.
   */
  provider?: string;
  /** Address of the service. Default: environment variable `POOLWRIGHT_BASE_URL`. */
  baseURL?: string;
  /** Workspace API key. Default: environment variable `POOLWRIGHT_API_KEY`. */
  apiKey?: string;
  /** Limits of the run; exceeding one makes it fail. Default: none. */
  budget?: Budget;
  /**
   * Puppeteer under Vitest, Jest, Mocha and node:test: keep screenshot, HTML, console and address of each open page
   * when a test fails. Default `true`. Elsewhere, `true` is an error: Playwright Test has `screenshot` and `trace`.
   */
  evidence?: boolean;
  /**
   * Playwright Test: number of parallel workers. `'auto'`: as many as the plan or the pool has browsers, divided by the
   * shards, as far as this machine bears them; Playwright's own number until that is known. Overrides `workers` of the
   * config, not `--workers`; projects on local browsers keep Playwright's own number. Default: environment variable
   * `POOLWRIGHT_WORKERS`, else `workers` of the config, else `'auto'`.
   */
  workers?: 'auto' | number;
  /**
   * Playwright Test ≥ 1.62: `--shard` is balanced by how long tests take. `timings` names the file, relative to the
   * config, that has this; missing or invalid, it is an OptionsError. Default: `poolwright-timings.json` beside the
   * config, else, outside CI, what runs on this machine have measured. `false`: Playwright's own shards.
   */
  shards?: ShardsOption | false;
}
