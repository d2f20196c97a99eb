import type { HostedProject } from '../../src/broker/rpc/messages/protocol.ts';
import { interleave } from '../measuring/interleave.ts';
import { descendantTitled, residentMegabytes } from '../measuring/processes.ts';
import type { Figures } from '../measuring/samples.ts';
import { median, quantile } from '../measuring/statistics.ts';
import { decimals } from '../report/table.ts';
import { atLeast, atMost, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { startSurroundings } from './surroundings.ts';
import { Workers } from './workers.ts';

/**
 * Leases a second that are asked for while the time of each is taken; fresh ones are three requests to the service
 * each.
 */
const RATE = 2_000;
const FRESH_RATE = 200;
/** How long they are asked for at that rate, in s. */
const FULL = { workers: 1_000, kept: 100_000, fresh: 5_000, timedSeconds: 10 };
/** For one round, which only shows that everything works. */
const SMALL = { workers: 50, kept: 2_000, fresh: 500, timedSeconds: 0.25 };
/** The record of a run has a line for each browser, so that memory is looked at where browsers are handed on. */
const SIDES = {
  kept: { title: "handed on (`reuse: 'run'`)", reuse: 'run', rate: RATE },
  fresh: { title: "a fresh one each time (`reuse: 'test'`)", reuse: 'test', rate: FRESH_RATE },
} as const;
type Side = keyof typeof SIDES;
const NAMES = Object.keys(SIDES) as Side[];

/** What the broker can do. */
export const brokerSuite: Suite = {
  name: 'broker',
  title: 'The broker',
  about: `${FULL.workers} simulated workers, each with its socket, on a real broker process with ledger and record, and a service that responds at once. First they lease and give back without a pause (${FULL.kept} leases of browsers that are handed on, ${FULL.fresh} of fresh ones): leases a second, and the broker's resident memory after a tenth of them and at the end. Then they ask for ${RATE} leases a second (${FRESH_RATE} fresh ones), and the time of each lease is taken: ms.`,
  rounds: 3,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const size = order.rounds === 1 ? SMALL : FULL;
  const samples = await interleave(NAMES, order, (side) => measure(side as Side, size));
  const middle = (side: Side, figure: string) => median(samples.values(side, figure));
  const rows = NAMES.map((side) => [
    SIDES[side].title,
    decimals(middle(side, 'perSecond'), 0),
    decimals(middle(side, 'half'), 1),
    decimals(middle(side, 'p99'), 1),
    decimals(middle(side, 'early'), 0),
    decimals(middle(side, 'late'), 0),
  ]);
  const head = ['browsers', 'leases/s', 'median ms', 'p99 ms', 'MB after a tenth', 'MB at the end'];
  const growth = middle('kept', 'late') - middle('kept', 'early');
  return {
    samples,
    tables: [{ head, rows }],
    goals: [
      atLeast('leases a second, browsers handed on', middle('kept', 'perSecond'), RATE, '', 0),
      atMost(`p99 at ${RATE} leases a second`, middle('kept', 'p99'), 50, ' ms', 1),
      // A heap that grows and shrinks is not a leak.
      atMost(`growth of memory over ${size.kept} leases`, growth, 10, ' MB', 1),
    ],
  };
}

async function measure(side: Side, size: typeof FULL): Promise<Figures> {
  const { workers: count, timedSeconds } = size;
  const { reuse, rate } = SIDES[side];
  const leases = size[side];
  const plan: HostedProject['plan'] = {
    pool: null,
    fallback: 'fail',
    session: {},
    reuse,
    acquireTimeout: 120_000,
  };
  const surroundings = await startSurroundings(plan, count);
  let workers: Workers | undefined;
  try {
    workers = await Workers.connect(surroundings.broker.address, count);
    const pid = descendantTitled('poolwright broker') ?? 0;
    await workers.leaseAsFastAsPossible(count); // each has had a browser
    const first = await workers.leaseAsFastAsPossible(leases / 10);
    const early = residentMegabytes(pid);
    const rest = await workers.leaseAsFastAsPossible((leases / 10) * 9);
    const late = residentMegabytes(pid);
    const times = await workers.leaseAtRate(rate, rate * timedSeconds);
    const perSecond = 1 / (0.1 / first + 0.9 / rest);
    return { perSecond, early, late, half: quantile(times, 0.5), p99: quantile(times, 0.99) };
  } finally {
    workers?.close();
    await surroundings.stop();
  }
}
