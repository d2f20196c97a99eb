import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { ServiceClient } from '../src/service/index.ts';
import { startStubEmulator } from '../test/support/stub/start.ts';
import { countApiCalls } from './api-calls.ts';
import { type ShardResult, STARTS_WITHIN_MS, startShard } from './shard.ts';

/**
 * `node scripts/sim.mjs`: many shards against one limit. Everything is real but the browsers (stubs) and the tests
 * (they wait): each shard has its broker process, each worker its socket, and the emulator is asked over HTTP.
 */

interface Scenario {
  shards: number;
  workers: number;
  /** `plan.concurrent_browsers` of the workspace. */
  limit: number;
  /** Size of the pool that all lease from; null: sessions. */
  pool: number | null;
  groups: number;
}

const SCENARIOS: Scenario[] = [
  { shards: 1, workers: 20, limit: 200, pool: null, groups: 100 },
  { shards: 4, workers: 4, limit: 10, pool: null, groups: 20 },
  { shards: 10, workers: 4, limit: 200, pool: 20, groups: 20 },
  { shards: 10, workers: 20, limit: 200, pool: null, groups: 60 },
  { shards: 25, workers: 20, limit: 200, pool: null, groups: 60 },
  { shards: 50, workers: 20, limit: 200, pool: null, groups: 60 },
];
/** A group takes from half of this to half as much again, in ms. */
const GROUP_MS = 1_000;
/** A browser takes so long to start, in ms. */
const START_MS = 500;

const rows: string[] = [];
for (const scenario of SCENARIOS) {
  const row = await simulate(scenario);
  rows.push(row);
  console.log(row);
}
await writeFile(new URL('../../../bench/results/simulation.md', import.meta.url), page(rows));

async function simulate({ shards, workers, limit, pool, groups }: Scenario): Promise<string> {
  const emulator = await startStubEmulator({
    concurrentBrowsers: limit,
    startDelay: START_MS,
    startJitter: START_MS / 2,
  });
  const { baseURL, apiKey } = emulator;
  const client = new ServiceClient({ baseURL, apiKey });
  try {
    const name = pool === null ? null : (await client.createPool({ name: 'sim', size: pool })).id;
    const started = [];
    for (let current = 1; current <= shards; current += 1) {
      const shard = { current, total: shards };
      const groupMs = () => GROUP_MS * (0.5 + Math.random());
      started.push(await startShard({ baseURL, apiKey, shard, workers, groups, groupMs, pool: name }));
    }
    const calls = countApiCalls();
    const results = await Promise.all(started.map(({ run }) => run()));
    calls.stop();
    const left: string[] = [];
    for await (const session of client.iterateSessions({ status: 'active' })) left.push(session.sessionId);
    const failures = results.flatMap((result) => result.failures);
    if (failures.length > 0) throw new Error(`${failures.length} workers got no browser: ${failures[0]}`);
    if (left.length > 0) throw new Error(`${left.length} sessions were left running`);
    if (calls.mostAtOnce > limit) throw new Error(`${calls.mostAtOnce} browsers at a limit of ${limit}`);
    return describe({ shards, workers, limit, pool, groups }, results, calls);
  } finally {
    await client.close();
    await emulator.stop();
  }
}

function describe(scenario: Scenario, results: ShardResult[], calls: ReturnType<typeof countApiCalls>): string {
  const waits = results.flatMap((result) => result.waits).sort((a, b) => a - b);
  const took = results.map((result) => result.took);
  const leases = results.reduce((sum, result) => sum + result.leases, 0);
  const { shards, workers, limit, pool, groups } = scenario;
  const kinds = Object.entries(calls.byKind)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${kind} ${(count / leases).toFixed(2)}`)
    .join(', ');
  const cells = [
    `${shards} × ${workers}`,
    pool === null ? `sessions, limit ${limit}` : `pool of ${pool}`,
    shards * groups,
    `${leases} (${calls.mostAtOnce} at once)`,
    seconds(quantile(waits, 0.5)),
    seconds(quantile(waits, 0.99)),
    seconds(waits.at(-1) ?? 0),
    `${(calls.total / leases).toFixed(1)} (${kinds})`,
    calls.overLimit,
    `${seconds(Math.min(...took))} to ${seconds(Math.max(...took))}, Jain ${jain(took).toFixed(3)}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** 1: every shard took the same time; 1/n: one took it all. */
function jain(values: number[]): number {
  const sum = values.reduce((a, b) => a + b, 0);
  return sum ** 2 / (values.length * values.reduce((a, b) => a + b ** 2, 0));
}

function quantile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function page(lines: string[]): string {
  return `# Many shards, one limit

Made with \`node scripts/sim.mjs\` (${cpus().length} cores; the times vary with the machine). Each shard has a real broker process, each
worker a real socket. Browsers are the emulator's stubs, which take ${START_MS} to ${START_MS * 1.5} ms to start. A test group is a wait of ${GROUP_MS / 2} to ${GROUP_MS * 1.5} ms. As
in Playwright, a worker gets its group before it requests a browser, and keeps the browser for later groups. Workers start within
${STARTS_WITHIN_MS} ms: if all started in one moment, the order of their processes would decide who gets the browsers. In every row all shards
finish, every worker gets a browser, no session is left, and the limit is never exceeded: otherwise the simulation stops.

- **wait**: from a worker's request to its first browser.
- **API calls per lease**: all requests to the service, divided by the browsers leased.
- **over limit**: requests refused with \`403 Session limit reached\`.
- **shards took**: the fastest and the slowest shard, and Jain's fairness index over all shards (1: all equal).

| shards × workers | browsers | groups | leased | wait, median | wait, p99 | wait, most | API calls per lease | over limit | shards took |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${lines.join('\n')}
`;
}
