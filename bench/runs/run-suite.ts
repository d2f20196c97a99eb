import { freePort } from '../../test/support/free-port.ts';
import { interleave } from '../measuring/interleave.ts';
import { chosen } from '../options.ts';
import type { Suite, SuiteOrder, SuiteResult } from '../suite.ts';
import { type EmulatorProcess, startEmulator } from '../surroundings/emulator.ts';
import { installedPlaywright, startDistantRelay } from '../surroundings/relay.ts';
import { outsideAddress, startSite } from '../surroundings/site.ts';
import { floor, local, localAgain, port, textbook } from './by-hand.ts';
import { halfTheCores, own, pool, relay, session, unbridged, unhidden } from './hosted.ts';
import { measuredRun } from './measured-run.ts';
import { type Project, writeProject } from './project.ts';
import type { RealSuite } from './real-suite.ts';
import { goalsOf, picturesTable, runsTable } from './runs-table.ts';
import type { NearBrowsers, Side } from './side.ts';
import { earlier, filmedAlways, filmedFailures, watched } from './watched.ts';

/** In the order of the tables. */
export const SIDES: Side[] = [
  local,
  localAgain,
  textbook,
  floor,
  port,
  earlier,
  session,
  halfTheCores,
  pool,
  own,
  unbridged,
  unhidden,
  relay,
  watched,
  filmedFailures,
  filmedAlways,
];
/** Sides of the suites that name them. */
const SPECIAL: Side[] = [halfTheCores, earlier, watched, filmedFailures, filmedAlways];
/** Those that differ in how they talk to a browser that is there, or nearly so. */
const FAR_SIDES: Side[] = [floor, unhidden, session, relay];

/** A suite of real runs as one of the bench's. */
export function runsOf(suite: RealSuite): Suite {
  const { name, title, about, rounds } = suite;
  return { name, title, about, rounds, run: (order) => run(suite, order) };
}

async function run(suite: RealSuite, order: SuiteOrder): Promise<SuiteResult> {
  const sides = chosen(SIDES, order.sides, '--side').filter((side) => isOf(suite, side));
  const outside = outsideAddress();
  const site = await startSite(suite.site === 'outside' ? outside : '127.0.0.1');
  const isOnLoopback = suite.site !== 'outside' || outside === '127.0.0.1';
  const emulator = await startEmulator(suite.startDelay, suite.rtt, isOnLoopback);
  const near = sides.includes(relay) ? await startNear(suite) : null;
  const projects = new Map<string, Project>();
  try {
    // Where there is no other address than loopback, the bridge is kept out by hand.
    const exposeNetwork = suite.site === 'outside' && outside === '127.0.0.1' ? '' : null;
    for (const side of sides) projects.set(side.name, await writeProject(side, suite, exposeNetwork));
    const samples = await interleave(
      sides.map(({ name }) => name),
      order,
      (name) => measure(name, suite, projects, { emulator, near, chromium: order.chromium, site: site.url }),
    );
    return {
      samples,
      tables: [suite.sides ? picturesTable(sides, samples) : runsTable(sides, samples)],
      goals: goalsOf(suite, samples),
    };
  } finally {
    await near?.relay.stop();
    await near?.emulator.stop();
    await emulator.stop();
    site.close();
    for (const { consumer } of projects.values()) await consumer.remove();
  }
}

/** Where no bridge is needed, a side without one is a side too many. */
function isOf({ rtt, site, sides }: RealSuite, side: Side): boolean {
  if (sides) return sides.includes(side.name) && side.build !== null;
  if (SPECIAL.includes(side)) return false;
  if (rtt !== undefined) return FAR_SIDES.includes(side);
  return side !== relay && side !== unhidden && (side !== unbridged || site !== 'outside');
}

interface MeasuredSurroundings {
  emulator: EmulatorProcess;
  near: NearBrowsers | null;
  chromium: string;
  site: string;
}

async function startNear({ startDelay, rtt = 0 }: RealSuite): Promise<NearBrowsers> {
  const emulator = await startEmulator(startDelay);
  return { emulator, relay: await startDistantRelay(new Map([installedPlaywright('.')]), rtt) };
}

async function measure(
  name: string,
  suite: RealSuite,
  projects: ReadonlyMap<string, Project>,
  { emulator, near, chromium, site }: MeasuredSurroundings,
) {
  const side = SIDES.find((each) => each.name === name);
  const project = projects.get(name);
  if (!side || !project) throw new Error(`There is no side "${name}"`);
  const sitePort = suite.site === 'own' ? await freePort() : null;
  const env = {
    BENCH_CHROMIUM: chromium,
    BENCH_SITE: sitePort === null ? site : `http://127.0.0.1:${sitePort}`,
    BENCH_SITE_PORT: String(sitePort ?? ''),
  };
  return await measuredRun(side, suite, project, { emulator, near, env });
}
