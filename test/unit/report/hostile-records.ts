import fc, { type Arbitrary } from 'fast-check';
import { printable } from '../../../src/printable.ts';
import { holdEnds, runners, testStatuses } from '../../../src/record/enums.ts';
import type { RunRecord, SessionRecord, TestRecord } from '../../../src/record/run-record.ts';
import type { TimelineData } from '../../../src/report/timeline/data.ts';
import { anyText } from '../../support/any-text.ts';

/** Records that match the schema, but are designed to harm their readers. */

/** Texts that could be interpreted as more than text. */
const TRICKS = [
  '\u001b[2J\u001b[31mred',
  '\u001b]0;title\u0007',
  '\u001b]8;;https://evil.test\u001b\\link\u001b]8;;\u001b\\',
  '\u009b31m',
  'a\nb',
  '\r\n::error::not an error',
  '::add-mask::a',
  'x ::set-output name=a::b',
  '##[error]not an error',
  '##vso[task.complete]',
  '\u202eesrever',
  '\u2066isolated',
  'a\u200b\ufeff\u2060b',
  '\u2028\u2029',
  '$(touch /tmp/x)',
  "'; rm -rf / #",
  '`id`',
  '</script><script>document.title="taken"</script>',
  '<img src=x onerror="document.title=1">',
  '| a | b |\n| --- | --- |',
  '<details><summary>',
  '```\n# heading',
  '[link](javascript:alert(1))',
  '@everyone $a$ ~~b~~',
  '\ud800',
  '\u0000',
  '日本語のテスト',
  '👩‍👩‍👧',
  '__proto__',
  'constructor',
  '',
  ' ',
  'long '.repeat(300),
];
export const text: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TRICKS) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...TRICKS), { maxLength: 3 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: anyText({ maxLength: 30 }) },
  { weight: 1, arbitrary: fc.constantFrom('a.spec.ts', 'us', 'one') },
);
const MAX_MS = 1e12;
const amount = (most: number) => fc.oneof(fc.constantFrom(0, 1, most), fc.double({ min: 0, max: most, noNaN: true }));
const ms = amount(MAX_MS);
const bytes = amount(Number.MAX_SAFE_INTEGER);
const count = fc.oneof(fc.nat(3), fc.constantFrom(1e9), fc.nat(1e9));
const cents = fc.oneof(fc.constantFrom(-1e12, 1e12), fc.double({ min: -1e12, max: 1e12, noNaN: true }));
const BASE = Date.parse('2026-03-01T10:00:00.000Z');
const moment = fc.oneof(
  { weight: 5, arbitrary: fc.nat(60_000).map((after) => new Date(BASE + after).toISOString()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000000000Z'),
  },
);
const orNull = <T>(some: Arbitrary<T>) => fc.option(some, { freq: 3 });
const shard = fc.oneof(
  fc.constant(null),
  fc.constantFrom(
    { current: 1, total: 2 },
    { current: 2, total: 2 },
    { current: 1, total: 1 },
    { current: 1, total: 10_000 },
  ),
);

const testRecord: Arbitrary<TestRecord> = fc.record({
  id: text,
  title: text,
  file: text,
  line: count,
  project: text,
  parallelIndex: count,
  retry: fc.oneof(fc.nat(2), count),
  status: fc.constantFrom(...testStatuses),
  ok: fc.boolean(),
  startedAt: moment,
  endedAt: moment,
  observedBytes: orNull(bytes),
  proxiedBytes: orNull(bytes),
  proxiedSentBytes: orNull(bytes),
  savedMs: ms,
  infrastructureFailure: fc.option(text, { freq: 2 }),
  evidence: orNull(text),
  holds: fc.array(fc.record({ reason: text, startedAt: moment, endedAt: moment, end: fc.constantFrom(...holdEnds) }), {
    maxLength: 2,
  }),
});

const sessionRecord: Arbitrary<SessionRecord> = fc.record({
  sessionId: text,
  leaseId: orNull(text),
  poolId: orNull(text),
  servedBy: orNull(text),
  source: fc.constantFrom('pool', 'session'),
  type: orNull(text),
  project: text,
  parallelIndex: count,
  shard,
  requestedAt: orNull(moment),
  startedAt: moment,
  lentAt: orNull(moment),
  endingAt: orNull(moment),
  endedAt: orNull(moment),
  startMs: orNull(ms),
  waitMs: orNull(ms),
  endReason: fc.constantFrom('finished', 'idle', 'lost', 'rolled-over', null),
  endConfirmed: fc.constantFrom(true, false, null),
  testsServed: count,
  workersServed: count,
  observedBytes: bytes,
  bridgedBytes: bytes,
  pictureBytes: bytes,
  carriedOrigins: fc.array(text, { maxLength: 2 }),
  roundTripMs: orNull(ms),
  savedMs: ms,
  bandwidthBytes: orNull(bytes),
  infrastructureFailures: fc.array(text, { maxLength: 12 }),
  tests: fc.array(testRecord, { maxLength: 6 }),
});

/** A record of one run, or of several merged ones. */
export const hostileRecord: Arbitrary<RunRecord> = fc.record({
  schema: fc.constant(1 as const),
  runId: orNull(text),
  runner: fc.constantFrom(...runners, null),
  service: fc.constantFrom('hosted', 'emulator', null),
  chromiums: fc.array(text, { maxLength: 2 }),
  shard,
  browsers: orNull(count),
  startedAt: moment,
  endedAt: orNull(moment),
  sessions: fc.array(sessionRecord, { maxLength: 4 }),
  leaseFailures: fc.array(text, { maxLength: 12 }),
  failures: fc.array(fc.record({ code: text, message: text, next: text }), { maxLength: 3 }),
  balance: orNull(fc.record({ startCents: cents, endCents: cents })),
  partition: orNull(
    fc.record({
      hash: orNull(text),
      timings: orNull(text),
      playwright: text,
      complete: fc.boolean(),
      tests: fc.dictionary(text, fc.dictionary(text, fc.dictionary(text, orNull(ms), { maxKeys: 3 }), { maxKeys: 2 }), {
        maxKeys: 2,
      }),
    }),
  ),
  work: orNull(
    fc.record({
      workers: fc.integer({ min: 1, max: 1_000 }),
      projectWorkers: fc.dictionary(text, fc.integer({ min: 1, max: 1_000 }), { maxKeys: 2 }),
      pieces: fc.array(fc.record({ project: text, ms }), { maxLength: 5 }),
      needs: fc.array(fc.record({ project: text, needed: text, ms }), { maxLength: 3 }),
    }),
  ),
  merged: fc.oneof(
    { weight: 4, arbitrary: fc.constant<RunRecord['merged']>([]) },
    {
      weight: 1,
      arbitrary: fc.array(fc.record({ runId: orNull(text), shard, startedAt: moment, endedAt: orNull(moment) }), {
        maxLength: 3,
      }),
    },
  ),
});

/** Characters that no printed line may contain: terminal control characters, line breaks, reversed or hidden text. */
const FORBIDDEN =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|^\s*::(?!warning title=poolwright::)|##\w*\[|\bNaN\b|\bInfinity\b|Invalid Date|\bundefined\b|\[object/u;

/** What is wrong with a printed line; null if nothing. */
function flawOf(line: string): string | null {
  const found = FORBIDDEN.exec(line);
  return found && `${JSON.stringify(found[0])} in ${JSON.stringify(line)}`;
}

/** Collected for thousands of lines, because an `expect` for each would take a minute. */
export function expectClean(lines: readonly string[]): void {
  for (const line of lines) {
    const flaw = flawOf(line);
    if (flaw !== null) throw new Error(flaw);
  }
}

/** The data of the page: valid JSON numbers and visible texts. IDs of tests are used only in links. */
export function expectShown({ tests, ...data }: TimelineData): void {
  const visit = (value: unknown): void => {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} in the timeline`);
    if (typeof value === 'string') expectClean([value]);
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) visit(inner);
  };
  visit(data);
  visit(tests.map(([, start, duration, , , , , , , title, , bytes, lost]) => [start, duration, title, bytes, lost]));
}

/** Not by `expect`, which takes a minute for thousands of lines. */
export function expectOneLine(line: string): void {
  const flaw = flawOf(line) ?? (printable(line) === line ? null : `not printable: ${JSON.stringify(line)}`);
  if (flaw !== null) throw new Error(flaw);
}
