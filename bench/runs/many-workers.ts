import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServiceClient } from '../../src/service/client.ts';
import { startStubEmulator } from '../../test/support/stub/start.ts';
import { type InterleaveOptions, interleave } from '../measuring/interleave.ts';
import { descendantTitled, memoryMegabytes, processorSecondsOf } from '../measuring/processes.ts';
import type { Figures } from '../measuring/samples.ts';
import { median } from '../measuring/statistics.ts';
import { decimals } from '../report/table.ts';
import { atMost, type Suite, type SuiteResult } from '../suite.ts';
import type { EmulatorProcess } from '../surroundings/emulator.ts';
import { textbook } from './by-hand.ts';
import { session } from './hosted.ts';
import { measuredRun } from './measured-run.ts';
import { writeProject } from './project.ts';
import type { RealSuite } from './real-suite.ts';

const FULL = [1, 8, 32, 100];
/** For one round, which only shows that everything works. */
const SMALL = [1, 3];
const SIDES = [textbook, session];
/** More workers than this are not compared: that poolwright can serve them is enough. */
const COMPARED = 32;
/** The broker's memory may be so much at so many workers. */
const GOAL = { workers: 32, megabytes: 60 };

/** What the processes of a run cost besides its browsers. */
export const manyWorkersSuite: Suite = {
  name: 'workers',
  title: 'Many workers',
  about:
    "Processor time and memory of one worker (the median of a run's) and of the broker, when every worker has its browser and has opened a page. The browsers are stubs in another process: neither they nor the emulator are counted. `textbook` is a worker with a hand-written fixture. Memory that processes share, such as Node's code of 44 MB, counts in equal parts (Linux's PSS).",
  rounds: 3,
  run,
};

async function run(order: InterleaveOptions & { chromium: string }): Promise<SuiteResult> {
  const counts = order.rounds === 1 ? SMALL : FULL;
  const places = counts
    .flatMap((workers) => SIDES.map((side) => ({ name: `${side.name}, ${workers}`, side, workers })))
    .filter(({ side, workers }) => side === session || workers <= COMPARED);
  const samples = await interleave(
    places.map(({ name }) => name),
    order,
    async (name) => {
      const { side, workers } = places.find((place) => place.name === name) as (typeof places)[number];
      return await measure(side, workers, order.chromium);
    },
  );
  const middle = (side: string, workers: number, figure: string) =>
    median(samples.values(`${side}, ${workers}`, figure));
  const rows = counts.map((workers) => [
    String(workers),
    ...['workerSeconds', 'workerMegabytes'].flatMap((figure) =>
      SIDES.map(({ name }) => decimals(middle(name, workers, figure), figure === 'workerSeconds' ? 2 : 0)),
    ),
    decimals(middle(session.name, workers, 'brokerSeconds'), 2),
    decimals(middle(session.name, workers, 'brokerMegabytes'), 0),
  ]);
  const head = ['workers', 's, textbook', 's', 'MB, textbook', 'MB', 's, broker', 'MB, broker'];
  const { workers, megabytes } = GOAL;
  const broker = middle(session.name, workers, 'brokerMegabytes');
  const goals = counts.includes(workers)
    ? [atMost(`the broker at ${workers} workers`, broker, megabytes, ' MB', 0)]
    : [];
  return { samples, tables: [{ head, rows }], goals };
}

/** One run, looked at when its last worker has a page. */
async function measure(side: typeof session, workers: number, chromium: string): Promise<Figures> {
  const { baseURL, apiKey, stop } = await startStubEmulator({ concurrentBrowsers: workers, balanceCents: 1_000_000 });
  const client = new ServiceClient({ baseURL, apiKey });
  const emulator: EmulatorProcess = { baseURL, apiKey, client, stop };
  const meeting = await startMeeting(workers);
  const suite = suiteOf(workers, meeting.url);
  const project = await writeProject(side, suite, '');
  try {
    const ended = measuredRun(side, suite, project, { emulator, near: null, env: { BENCH_CHROMIUM: chromium } });
    const pids = await Promise.race([meeting.complete, ended.then(() => [])]);
    const broker = descendantTitled('poolwright broker') ?? 0;
    const figures = {
      workerSeconds: median(pids.map(processorSecondsOf)),
      workerMegabytes: median(pids.map(memoryMegabytes)),
      brokerSeconds: processorSecondsOf(broker),
      brokerMegabytes: memoryMegabytes(broker),
    };
    meeting.end();
    await ended;
    return figures;
  } finally {
    meeting.end();
    await project.consumer.remove();
    await client.close();
    await stop();
  }
}

/** A test for each worker: it opens a page, and waits until the last worker has done so. */
function suiteOf(workers: number, meeting: string): RealSuite {
  const test = `import { test } from '@playwright/test';
test('meets the others', async ({ page }) => {
  await page.goto('data:text/html,<title>here</title>');
  await fetch('${meeting}?pid=' + process.pid);
});
`;
  return {
    name: 'workers',
    title: manyWorkersSuite.title,
    about: '',
    rounds: 1,
    workers,
    startDelay: 0,
    files: Object.fromEntries(Array.from({ length: workers }, (_, index) => [`${index}.spec.ts`, test])),
    config: 'timeout: 300_000,',
    site: 'outside',
    passes: workers,
    fails: 0,
  };
}

/** A server that answers nobody before all have come. */
async function startMeeting(expected: number) {
  const waiting: ServerResponse[] = [];
  const pids: number[] = [];
  let resolve: (pids: number[]) => void;
  const complete = new Promise<number[]>((resolved) => {
    resolve = resolved;
  });
  const server = createServer((request, response) => {
    waiting.push(response);
    pids.push(Number(new URL(request.url ?? '/', 'http://meeting').searchParams.get('pid')));
    if (pids.length === expected) resolve(pids);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    complete,
    end: () => {
      for (const response of waiting.splice(0)) response.end();
      server.close();
    },
  };
}
