import { brokerSuite } from './broker/broker.ts';
import { importsSuite } from './imports.ts';
import { bridgeSuite } from './links/bridge.ts';
import { distanceSuite } from './links/distance.ts';
import { memorySuite } from './links/memory.ts';
import { relaySuite } from './links/relay.ts';
import { streamsSuite } from './links/streams.ts';
import { transportSuite } from './links/transport.ts';
import { farSuite, nearSuite } from './puppeteer/commands.ts';
import { smallTestsSuite } from './puppeteer/small-tests.ts';
import { manyWorkersSuite } from './runs/many-workers.ts';
import { REAL_SUITES } from './runs/real-suites.ts';
import { runsOf } from './runs/run-suite.ts';
import { shardsSuite } from './runs/shards.ts';
import { startsSuite } from './starts.ts';
import type { Suite } from './suite.ts';

/** Everything that is measured, in the order of the page. */
export const SUITES: Suite[] = [
  ...REAL_SUITES.map(runsOf),
  startsSuite,
  importsSuite,
  transportSuite,
  relaySuite,
  bridgeSuite,
  streamsSuite,
  distanceSuite,
  farSuite,
  smallTestsSuite,
  nearSuite,
  memorySuite,
  brokerSuite,
  manyWorkersSuite,
  shardsSuite,
];
