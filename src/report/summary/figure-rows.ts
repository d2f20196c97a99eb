import type { FigureRow, RunFigures, RunWithFigures } from '../../record/figures.ts';
import { bytes, duration, many, testWord } from './format.ts';

/** Minimum round-trip time that is reported, in ms. Below it, there is nothing to save. */
const FAR_MS = 5;

/** Shorter waits round to zero, in ms. */
const NO_WAIT_MS = 50;

/** The known figures that are not zero, in the order of the summary. */
export function figureRows({ record: { runner, service }, figures, others = [] }: RunWithFigures): FigureRow[] {
  const isEmulator = service === 'emulator';
  const rows = [
    {
      label: 'browsers',
      parts: [
        service === 'browsers' || service === 'provider' ? '' : source(figures),
        perBrowser(figures, testWord(runner)),
        starts(figures),
        waits(figures),
        reuse(figures),
        // The emulator runs on this machine.
        isEmulator ? '' : distance(figures),
      ],
    },
    { label: 'tests', parts: [results(figures)] },
    // The emulator's money is not real.
    { label: 'used', parts: [...bandwidth(figures), isEmulator ? '' : cost(figures)] },
  ];
  const known = rows.map(({ label, parts }) => ({ label, value: parts.filter((part) => part !== '').join('; ') }));
  return [...known, ...others].filter(({ value }) => value !== '');
}

/** Sessions are the rule, so only pools are mentioned. */
function source({ fromPool, sessions }: RunFigures): string {
  if (fromPool === 0) return '';
  return list([`${fromPool} from a pool`, sessions > fromPool && `${sessions - fromPool} created`]);
}

/** With one browser, the headline says it. */
function perBrowser({ sessions, testsPerSession }: RunFigures, word: string): string {
  if (testsPerSession === null || sessions < 2) return '';
  const { median, most } = testsPerSession;
  return median === most ? `${many(most, word)} each` : `${median} ${word}s each (median), ${most} at most`;
}

function starts({ start }: RunFigures): string {
  if (start === null) return '';
  const { median, p95 } = start;
  return median === p95
    ? `started in ${duration(p95)}`
    : `started in ${duration(median)} (median), ${duration(p95)} (p95)`;
}

function waits({ waited }: RunFigures): string {
  if (waited === null || waited.longest < NO_WAIT_MS) return '';
  const { median, longest } = waited;
  if (median === longest) return `waited ${duration(longest)}`;
  return list([
    median >= NO_WAIT_MS && `waited ${duration(median)} (median)`,
    `${median >= NO_WAIT_MS ? '' : 'waited '}${duration(longest)} at most`,
  ]);
}

function reuse({ reconnects, rollovers }: RunFigures): string {
  return list([reconnects > 0 && many(reconnects, 'reconnect'), rollovers > 0 && many(rollovers, 'rollover')]);
}

function results({ failedTests, lostTests, retries }: RunFigures): string {
  return list([
    failedTests > 0 && `${failedTests} failed`,
    lostTests > 0 && `${lostTests} with a lost browser`,
    retries > 0 && (retries === 1 ? '1 retry' : `${retries} retries`),
  ]);
}

/** Nothing for a near browser, where there is nothing to save. */
function distance({ roundTripMs, savedMs }: RunFigures): string {
  if (roundTripMs === null || roundTripMs < FAR_MS) return '';
  const saved = savedMs >= NO_WAIT_MS && `about ${duration(savedMs)} of waiting saved`;
  return list([`${Math.round(roundTripMs)} ms per round trip`, saved]);
}

/** The larger of what pages moved directly and through the test machine comes first. */
function bandwidth({ observedBytes, serviceBytes, withoutFigure, proxiedBytes, pictureBytes }: RunFigures): string[] {
  const missing =
    serviceBytes === null
      ? ' (no figure from the service)'
      : withoutFigure > 0
        ? ` (${withoutFigure} without a figure)`
        : '';
  const direct = list([
    serviceBytes !== null && serviceBytes > 0 && `${bytes(serviceBytes)} by the service`,
    observedBytes > 0 && `${bytes(observedBytes)} observed in the tests' pages`,
  ]);
  const parts = [direct === '' ? '' : `${direct}${missing}`];
  const proxied = proxiedBytes > 0 ? `${bytes(proxiedBytes)} through the test machine` : '';
  if (proxiedBytes > Math.max(observedBytes, serviceBytes ?? 0)) parts.unshift(proxied);
  else parts.push(proxied);
  return [...parts, pictureBytes > 0 ? `${bytes(pictureBytes)} of pictures of pages` : ''];
}

function cost({ costCents }: RunFigures): string {
  return costCents === null || costCents === 0
    ? ''
    : `${many(costCents, 'cent')} by the workspace's balance (workspace total)`;
}

function list(parts: (string | false)[]): string {
  return parts.filter((part) => part !== false).join(', ');
}
