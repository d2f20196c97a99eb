import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import type { WriteStream } from 'node:tty';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { StatusLine } from '../../../src/report/live/status-line.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { TestTerminal } from '../../support/test-terminal.ts';

/**
 * Whatever is written to a terminal, and whenever, it looks the same with and without the status line, except for the
 * line.
 */

const ESC = '\u001b';
const SIZE = { columns: 30, rows: 8 };
const STATUS = 'status: ';
const QUIET_MS = 100;
const RUNS = propertyRuns(200);

type Step =
  | { do: 'write'; stream: 'stdout' | 'stderr'; text: string }
  /** Like the list reporter: up to a row, and back below everything. */
  | { do: 'rewrite'; up: number; isSlow: boolean }
  | { do: 'show'; text: string }
  | { do: 'wait' };

const word = fc.constantFrom(
  'a',
  'not ended',
  ' ',
  '\r',
  `${ESC}[32mgreen${ESC}[39m`,
  'wider than the terminal has columns',
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      text: fc.tuple(word, fc.constantFrom('', '', '\n', '\n\n')).map((parts) => parts.join('')),
    }),
  },
  {
    weight: 2,
    // When the line has made the terminal scroll, its top row cannot be reached.
    arbitrary: fc.record({
      do: fc.constant('rewrite' as const),
      up: fc.integer({ min: 1, max: SIZE.rows - 2 }),
      isSlow: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('show' as const), text: fc.constantFrom('', 'one', 'two') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
);

/** Output since the previous comparison, with and without the line. */
interface Moment {
  mine: string;
  plain: string;
}

/** Writes according to the steps. The clock only moves in `wait`. */
class Writer {
  readonly moments: Moment[] = [{ mine: '', plain: '' }];
  readonly #streams = { stdout: this.#stream(), stderr: this.#stream() };
  readonly #status = new StatusLine(this.#streams.stderr, [this.#streams.stdout]);
  /** Minimum number of rows above the cursor's row. */
  #above = 0;

  take(step: Step): void {
    if (step.do === 'wait') mock.timers.tick(QUIET_MS);
    else if (step.do === 'show') this.#status.show(step.text && STATUS + step.text);
    else if (step.do === 'write') this.#write(step.text, step.stream);
    else if (step.up <= this.#above) this.#rewrite(step.up, step.isSlow);
    this.#next();
  }

  stop(): void {
    this.#status.stop();
    this.#next();
  }

  #write(text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    this.#above += text.split('\n').length - 1;
    const written = text.replaceAll('\n', '\r\n');
    this.#moment.plain += written;
    this.#streams[stream].write(written);
  }

  #rewrite(up: number, isSlow: boolean): void {
    for (const part of [`${ESC}[${up}A`, `${ESC}[2K${ESC}[0G`, 'rewritten', `${ESC}[${up}E`]) {
      this.#write(part);
      if (isSlow) this.take({ do: 'wait' });
    }
  }

  get #moment(): Moment {
    return this.moments.at(-1) as Moment;
  }

  #next(): void {
    this.moments.push({ mine: '', plain: '' });
  }

  #stream(): WriteStream {
    const write = (text: string) => {
      this.#moment.mine += text;
      return true;
    };
    return { ...SIZE, write, hasColors: () => false } as unknown as WriteStream;
  }
}

function momentsOf(steps: readonly Step[]): Moment[] {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const writer = new Writer();
    for (const step of steps) writer.take(step);
    writer.stop();
    return writer.moments;
  } finally {
    mock.timers.reset();
  }
}

/** Compares both after every step. Returns how often the line was visible. */
async function compare(moments: readonly Moment[]): Promise<number> {
  const [withLine, without] = [new TestTerminal(SIZE), new TestTerminal(SIZE)];
  let seen = 0;
  let isSeen = false;
  for (const { mine, plain } of moments) {
    if (mine !== '') await withLine.feed(mine);
    if (plain !== '') await without.feed(plain);
    const screen = withLine.screen;
    isSeen = screen.lines.at(-1)?.trimStart().startsWith(STATUS) ?? false;
    if (isSeen) {
      screen.lines.pop();
      while (screen.lines.at(-1) === '') screen.lines.pop();
      seen += 1;
    }
    deepEqual(screen, without.screen);
  }
  equal(isSeen, false);
  return seen;
}

test('never disturbs other output', async () => {
  let seen = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
    seen += await compare(momentsOf([{ do: 'show', text: 'begun' }, ...steps]));
  });
  await fc.assert(property, RUNS);
  // A line that is never drawn would pass this test.
  expect(seen).toBeGreaterThan(RUNS.numRuns);
});
