import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { parseOrThrow } from '../common/validation.ts';
import { OptionsError } from '../errors.ts';
import { redactText } from '../redact.ts';
import { isProxyReference } from '../service/schemas/fields.ts';
import { faultRule } from './fault-rule.ts';
import { isStrictLoopback } from './host-check.ts';

const key = z.string().min(1, 'must not be empty').regex(/^\S+$/, 'must not contain white space');
const count = z.int().positive();

/** One of a workspace's own addresses. */
const dedicatedIp = z.strictObject({
  ip: z.union([z.ipv4(), z.ipv6()]),
  /** Two letters; sessions through it have this country and its timezone. */
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be two letters')
    .transform((country) => country.toUpperCase()),
  /** IANA zone listed for the country. Default: the country's dominant one. */
  timezone: z.string().min(1).optional(),
  /** SOCKS5 or SOCKS5H URL of the address; the session's traffic uses it. */
  proxyUrl: z.string().refine((value) => /^socks5h?:\/\//i.test(value) && isProxyReference(value), {
    error: 'must be a SOCKS5 or SOCKS5H URL',
  }),
  /** Result of its last health check; an unhealthy address responds with 503. Default true. */
  healthy: z.boolean().default(true),
});

const workspaceOptions = z.strictObject({
  /** The key that its clients send. */
  apiKey: key,
  /** For log lines. */
  name: z.string().min(1).optional(),
  /** How many sessions (`starting` ones and leased pool browsers included) may live at once. */
  concurrentBrowsers: count.optional(),
  /** How many warm browsers all pools together may ask for. */
  warmBrowserCap: count.optional(),
  /** What it may use up, in cents. */
  balanceCents: z.int().optional(),
  /** Whether the account is enabled for extensions. */
  extensionAccess: z.boolean().optional(),
  dedicatedIps: z.array(dedicatedIp).optional(),
});

/** Options of the emulator, with their defaults. */
const emulatorOptions = z.strictObject({
  /** Port on `host`. Default 0: any free one. */
  port: z.int().min(0).max(65_535).default(0),
  /**
   * Address or name of this machine to listen on. Default `127.0.0.1`, which no other machine reaches; any that is not
   * loopback needs `allowRemote`, too.
   */
  host: z.string().min(1, 'must not be empty').default('127.0.0.1'),
  /** Allows remote connections: everyone with the key can run browsers on this machine. Default false. */
  allowRemote: z.boolean().default(false),
  /** Key of the only workspace. Default: a random one. */
  apiKey: key.optional(),
  /** Several workspaces, instead of `apiKey`. They do not see each other's sessions and pools. */
  workspaces: z.array(workspaceOptions).min(1).optional(),
  /** The plan's concurrency, per workspace. Default 10. */
  concurrentBrowsers: count.default(10),
  /** The account's warm-browser cap, per workspace. Default 30. */
  warmBrowserCap: count.default(30),
  /**
   * What each workspace may use up, in cents; when it is used up, creates and acquires fail with 402. The emulator
   * charges 10 cents for an hour of a browser and half a cent for a megabyte. Default 100 000.
   */
  balanceCents: z.int().default(100_000),
  /**
   * Whether the accounts may use extensions; if not, the extension endpoints respond with 403. Default true, although
   * the service enables extensions on request.
   */
  extensionAccess: z.boolean().default(true),
  /** The addresses that `proxyUrl: 'dedicated://…'` may name, and `GET /v1/network/ips` lists. Default none. */
  dedicatedIps: z.array(dedicatedIp).default([]),
  /**
   * Directory that keeps profiles and extensions between runs, created if it is missing; each workspace has its part,
   * by its `name`. It holds cookies: guard it as you would a browser's profile. One emulator at a time may use it.
   * Default: nothing survives.
   */
  data: z.string().min(1).optional(),
  /** How long a browser may take to become CDP-ready, in ms: on a busy machine, long. Default 60 000. */
  startupDeadline: count.max(180_000).default(60_000),
  /**
   * Paths of the Chromiums to run. `shell`: a headless shell, for sessions of type `hosted`; three times as light.
   * `full`: the whole browser, for stealth and privacy types, profiles and extensions. Default, for each: its variable
   * (`POOLWRIGHT_CHROMIUM_SHELL`, `POOLWRIGHT_CHROMIUM`), Playwright's download, the system's. A string, or `full`
   * without `shell`, is the one browser for everything.
   */
  chromium: z
    .union([
      z.string().min(1),
      z.strictObject({ shell: z.string().min(1).optional(), full: z.string().min(1).optional() }),
    ])
    .optional(),
  /** More arguments for every Chromium. */
  chromiumArgs: z.array(z.string()).default([]),
  /** Lets the browsers reach this machine's loopback. Default false: a hosted browser is somewhere else. */
  allowLoopback: z.boolean().default(false),
  /** Name or names of the nodes that serve sessions. */
  servedBy: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .default('emulator-1')
    .transform((names) => (Array.isArray(names) ? names : [names])),
  /** What goes wrong on purpose, from the first request on. `POST /__emulator/faults` adds more. Default none. */
  faults: z.array(faultRule).default([]),
  /** Round-trip time of the CDP links, in ms: half of it each way. Default 0. Up to 10 000. */
  rtt: z.number().min(0).max(10_000).default(0),
  /** How much longer every browser takes to start, in ms; it counts against `startupDeadline`. Default 0. */
  startDelay: z.number().min(0).max(180_000).default(0),
  /** Up to this much more, in ms, another time for each start. Default 0. */
  startJitter: z.number().min(0).max(180_000).default(0),
  /**
   * Share of all requests, 0 to 1, that fail as they do at a service far away: `429`, `500`, `502` and `503`, equally
   * often. They are rules in the list of faults, after those of `faults`. Default 0.
   */
  errorRate: z.number().min(0).max(1).default(0),
  /** Seed of all random choices (faults, `startJitter`): the same number gives the same choices. Default 1. */
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1),
  /** Takes one line of text per event of note; never holds a key, a `cdpUrl` or a proxy password. */
  onLog: z.custom<(line: string) => void>((value) => typeof value === 'function', 'must be a function').optional(),
});

/** What `startEmulator` takes; every field is optional. */
export type EmulatorOptions = z.input<typeof emulatorOptions>;

export type DedicatedIpSettings = z.output<typeof dedicatedIp>;

export interface WorkspaceSettings {
  apiKey: string;
  name: string;
  concurrentBrowsers: number;
  warmBrowserCap: number;
  balanceCents: number;
  extensionAccess: boolean;
  dedicatedIps: DedicatedIpSettings[];
}

/** Checked options with every default in place. */
export type EmulatorSettings = Omit<z.output<typeof emulatorOptions>, 'workspaces' | 'apiKey' | 'onLog'> & {
  workspaces: WorkspaceSettings[];
  log: (line: string) => void;
};

/** @throws OptionsError naming the field. */
export function resolveOptions(options: EmulatorOptions): EmulatorSettings {
  const checked = parseOrThrow(emulatorOptions, options, optionsError);
  const { apiKey, workspaces, onLog, ...rest } = checked;
  if (apiKey !== undefined && workspaces !== undefined) {
    throw new OptionsError('workspaces', 'workspaces: give either "apiKey" or "workspaces", not both');
  }
  if (!rest.allowRemote && !isStrictLoopback(rest.host)) {
    const problem = `host: other machines reach ${rest.host}, and everyone with the key could run browsers on this one`;
    const wayOut = 'This needs a second flag: allowRemote (--allow-remote). Otherwise leave host at 127.0.0.1.';
    throw new OptionsError('host', `${problem}. ${wayOut}`);
  }
  const list = workspaces ?? [{ apiKey: apiKey ?? `pw_${randomBytes(18).toString('base64url')}` }];
  const keys = new Set(list.map((workspace) => workspace.apiKey));
  if (keys.size < list.length) throw new OptionsError('workspaces', 'workspaces: two workspaces have the same apiKey');
  const named = list.map((workspace, index) => ({ name: `workspace-${index + 1}`, ...workspace }));
  if (new Set(named.map(({ name }) => name)).size < list.length) {
    throw new OptionsError('workspaces', 'workspaces: two workspaces have the same name');
  }
  return {
    ...rest,
    log: (line) => onLog?.(redactText(line, keys)),
    workspaces: named.map((workspace) => ({
      concurrentBrowsers: rest.concurrentBrowsers,
      warmBrowserCap: rest.warmBrowserCap,
      balanceCents: rest.balanceCents,
      extensionAccess: rest.extensionAccess,
      dedicatedIps: rest.dedicatedIps,
      ...workspace,
    })),
  };
}

function optionsError(problems: string[]): OptionsError {
  const field = /^`([^`]+)`/.exec(problems[0] ?? '')?.[1] ?? 'options';
  return new OptionsError(field, problems.join('; '));
}
