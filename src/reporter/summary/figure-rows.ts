import type { RunFigures, RunWithFigures } from '../../record/figures.ts';
import { bytes, duration, many } from './format.ts';

/** From which round trip on there is something to save, in ms. */
const FAR_MS = 5;

/** A figure as terminal, Markdown and timeline show it. */
export interface FigureRow {
  label: string;
  value: string;
}

/** The figures that are known, in the order of the summary. */
export function figureRows({ record: { service }, figures }: RunWithFigures): FigureRow[] {
  const { sessions, fromPool, testsPerSession, waited, start, reconnects, rollovers } = figures;
  const rows: (FigureRow | null)[] = [
    { label: 'from', value: `${fromPool} leased, ${sessions - fromPool} created` },
    testsPerSession && {
      label: 'tests',
      value: `${testsPerSession.median} per browser (median), ${testsPerSession.most} at most; ${results(figures)}`,
    },
    waited && { label: 'waited', value: `median ${duration(waited.median)}, longest ${duration(waited.longest)}` },
    start && { label: 'start', value: `median ${duration(start.median)}, p95 ${duration(start.p95)}` },
    { label: 'reused', value: `${many(reconnects, 'reconnect')}, ${many(rollovers, 'rollover')}` },
    // The emulator is on this machine, and its money is nobody's.
    service === 'emulator' ? null : distance(figures),
    { label: 'bandwidth', value: bandwidth(figures) },
    figures.costCents === null || service === 'emulator'
      ? null
      : { label: 'cost', value: `${many(figures.costCents, 'cent')} by the workspace's balance (workspace total)` },
  ];
  return rows.flatMap((row) => row ?? []);
}

function results({ failedTests, lostTests, retries }: RunFigures): string {
  const said = [`${failedTests} failed`];
  if (lostTests > 0) said.push(`${lostTests} failed by a lost browser`);
  if (retries > 0) said.push(retries === 1 ? '1 retry' : `${retries} retries`);
  return said.join(', ');
}

/** Null near the browser, where nothing is to be saved. */
function distance({ roundTripMs, savedMs }: RunFigures): FigureRow | null {
  if (roundTripMs === null || roundTripMs < FAR_MS) return null;
  const saved = savedMs > 0 ? `about ${duration(savedMs)} of waiting saved` : 'none of it hidden';
  return { label: 'distance', value: `${Math.round(roundTripMs)} ms a round trip; ${saved}` };
}

function bandwidth({ observedBytes, serviceBytes, withoutFigure, bridgedBytes }: RunFigures): string {
  const observed = `${bytes(observedBytes)} observed in the tests' pages`;
  const both =
    serviceBytes === null
      ? `${observed} (no figure from the service)`
      : `${bytes(serviceBytes)} by the service, ${observed}${withoutFigure > 0 ? ` (${withoutFigure} without a figure)` : ''}`;
  return bridgedBytes > 0 ? `${both}; ${bytes(bridgedBytes)} through the test machine` : both;
}
