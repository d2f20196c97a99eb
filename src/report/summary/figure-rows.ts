import type { RunFigures, RunWithFigures } from '../../record/figures.ts';
import { bytes, duration, many } from './format.ts';

/** Minimum round-trip time that is reported, in ms. Below it, there is nothing to save. */
const FAR_MS = 5;

/** A figure for terminal, Markdown and timeline. */
export interface FigureRow {
  label: string;
  value: string;
}

/** The known figures, in the order of the summary. */
export function figureRows({ record: { service }, figures }: RunWithFigures): FigureRow[] {
  const { sessions, fromPool, testsPerSession, waited, start, reconnects, rollovers } = figures;
  const rows: (FigureRow | null)[] = [
    service === 'browsers' || service === 'provider'
      ? null
      : { label: 'from', value: `${fromPool} leased, ${sessions - fromPool} created` },
    testsPerSession && {
      label: 'tests',
      value: `${testsPerSession.median} per browser (median), ${testsPerSession.most} at most; ${results(figures)}`,
    },
    waited && { label: 'waited', value: `median ${duration(waited.median)}, longest ${duration(waited.longest)}` },
    start && { label: 'start', value: `median ${duration(start.median)}, p95 ${duration(start.p95)}` },
    { label: 'reused', value: `${many(reconnects, 'reconnect')}, ${many(rollovers, 'rollover')}` },
    // The emulator runs on this machine, and its money is not real.
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
  if (lostTests > 0) said.push(`${lostTests} with a lost browser`);
  if (retries > 0) said.push(retries === 1 ? '1 retry' : `${retries} retries`);
  return said.join(', ');
}

/** Null for a near browser, where there is nothing to save. */
function distance({ roundTripMs, savedMs }: RunFigures): FigureRow | null {
  if (roundTripMs === null || roundTripMs < FAR_MS) return null;
  const saved = savedMs > 0 ? `about ${duration(savedMs)} of waiting saved` : 'no waiting saved';
  return { label: 'distance', value: `${Math.round(roundTripMs)} ms per round trip; ${saved}` };
}

/** The larger of what pages moved directly and through the test machine comes first. */
function bandwidth({ observedBytes, serviceBytes, withoutFigure, proxiedBytes, pictureBytes }: RunFigures): string {
  const observed = `${bytes(observedBytes)} observed in the tests' pages`;
  const direct =
    serviceBytes === null
      ? `${observed} (no figure from the service)`
      : `${bytes(serviceBytes)} by the service, ${observed}${withoutFigure > 0 ? ` (${withoutFigure} without a figure)` : ''}`;
  const parts = [direct];
  const proxied = `${bytes(proxiedBytes)} through the test machine`;
  if (proxiedBytes > Math.max(observedBytes, serviceBytes ?? 0)) parts.unshift(proxied);
  else if (proxiedBytes > 0) parts.push(proxied);
  if (pictureBytes > 0) parts.push(`${bytes(pictureBytes)} of pictures of pages`);
  return parts.join('; ');
}
