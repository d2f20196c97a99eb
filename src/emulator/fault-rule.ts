import * as z from 'zod';

/** Longest wait a rule may ask for: an hour, as long as a session may live. */
const MAX_DELAY_MS = 3_600_000;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Effects that replace the service's response. */
const OUTCOMES = ['status', 'reset', 'loseAnswer', 'hang'] as const;
/** Effects on the browser of a response. */
const BROWSER_OUTCOMES = ['crashBrowser', 'stallBrowser', 'cutLink', 'endSession'] as const;

/** One of the things that can happen to a session's browser. */
export type BrowserFault = (typeof BROWSER_OUTCOMES)[number];

const on = z.literal(true, { error: 'must be true where it is given' });
const milliseconds = z.int('must be a whole number of ms').min(0).max(MAX_DELAY_MS);

/** Which requests a rule is for. */
const match = z.strictObject({
  /** HTTP method. Default: any. */
  method: z.enum(METHODS).optional(),
  /**
   * Path without the query; `*` stands for any run of characters, slashes too: `/v1/browser/pools*acquire`. Default:
   * every path under `/v1/`. One that begins with `/cdp/` is for the handshakes of CDP links.
   */
  path: z.string().startsWith('/', 'must begin with /').optional(),
  /** The first of the requests that fit (1-based) which it fires on; it fires once then, unless `count` says more. */
  nth: z.int().min(1).optional(),
  /** How likely it fires on a request that fits, 0 to 1. Default 1. Drawn from the emulator's `seed`. */
  probability: z.number().min(0).max(1).optional(),
});

/** What a rule does. */
const effect = z
  .strictObject({
    /**
     * Waits this long, in ms, before the request is handled or the other effect happens; alone, it is a slow response.
     */
    delayMs: milliseconds.optional(),
    /** Responds with this status, 200 to 599; the service never receives the request. */
    status: z.int().min(200).max(599).optional(),
    /**
     * Body of that response: an object is sent as JSON, a text unchanged (`text/html` unless `headers` say otherwise).
     */
    body: z.union([z.string(), z.record(z.string(), z.json())]).optional(),
    /** Additional headers of that response. */
    headers: z.record(z.string(), z.string()).refine(areHeaders, 'are no HTTP headers').optional(),
    /** Resets the connection; the service never sees the request. */
    reset: on.optional(),
    /** The service handles the request; then the connection is reset without a response. */
    loseAnswer: on.optional(),
    /** Neither handled nor responded to, until the client gives up or the emulator stops. */
    hang: on.optional(),
    /**
     * Kills (SIGKILL) the browser of the session that the request is about, after the service has handled it.
     */
    crashBrowser: on.optional(),
    /** Stops (SIGSTOP) that browser: it keeps its connections and does not respond. */
    stallBrowser: on.optional(),
    /** Cuts that session's CDP links without a close frame; the session goes on and can be connected to again. */
    cutLink: on.optional(),
    /** Ends that session as its duration would. */
    endSession: on.optional(),
    /** How long after the response it happens to the browser, in ms. Default 0: just before the response goes out. */
    afterMs: milliseconds.optional(),
  })
  .superRefine((value, context) => {
    const chosen = [...OUTCOMES, ...BROWSER_OUTCOMES].filter((name) => value[name] !== undefined);
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (chosen.length > 1) refuse(chosen[1] as string, `does not go with ${chosen[0]}: a rule has one effect`);
    if (chosen.length === 0 && value.delayMs === undefined) {
      const names = ['delayMs', ...OUTCOMES, ...BROWSER_OUTCOMES].join(', ');
      context.addIssue({ code: 'custom', message: `is empty: give one of ${names}` });
    }
    if (value.status === undefined) {
      for (const name of ['body', 'headers'] as const) if (value[name] !== undefined) refuse(name, 'needs status');
    }
    if (value.afterMs !== undefined && !BROWSER_OUTCOMES.some((name) => value[name])) {
      refuse('afterMs', `needs one of ${BROWSER_OUTCOMES.join(', ')}; for a slow response there is delayMs`);
    }
  });

/** One rule of the emulator's list of faults. */
export const faultRule = z.strictObject({
  /**
   * Its name in the list; posting a rule with a name that is there replaces that one. Default `fault-1`, `fault-2`, …
   */
  id: z.string().min(1).max(80).optional(),
  /** Which requests. Default: all to the API. */
  match: match.default({}),
  effect,
  /** How often it fires at most. Default: without end; with `nth` once. */
  count: z.int().min(1).optional(),
});

/** Body of `POST /__emulator/faults`. */
export const faultRules = z.strictObject({ faults: z.array(faultRule).min(1) });

/** One rule as a user writes it. */
export type FaultRule = z.input<typeof faultRule>;
/** Which requests a rule is for. */
export type FaultMatch = z.input<typeof match>;
/** What happens to them. */
export type FaultEffect = z.input<typeof effect>;
/** A rule with its defaults in place. */
export type ResolvedFaultRule = z.output<typeof faultRule>;

function areHeaders(value: Record<string, string>): boolean {
  try {
    new Headers(value);
    return true;
  } catch {
    return false;
  }
}

export function browserFault(effect: FaultEffect): BrowserFault | undefined {
  return BROWSER_OUTCOMES.find((name) => effect[name]);
}
