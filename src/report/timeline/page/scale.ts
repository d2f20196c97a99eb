/** Usual steps of a time axis, in ms. */
const STEPS = [100, 200, 500, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200].map((step, n) =>
  n < 3 ? step : step * 1_000,
);

/** The positions of the axis lines in ms, at most `most` of them. */
export function ticks(length: number, most: number): number[] {
  const step = STEPS.find((each) => length / each <= most) ?? Math.ceil(length / most / 3_600_000) * 3_600_000;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, n) => n * step);
}

/** Labels of the axis lines, all in one unit: `0.0 s`, `0.5 s` if they are less than a second apart, else `1:05`. */
export function labelsOf(marks: readonly number[]): string[] {
  const [first = 0, second = first + 1_000] = marks;
  return marks.map((ms) => (second - first < 1_000 ? `${(ms / 1_000).toFixed(1)} s` : clock(ms)));
}

/** A time of the run: `0:00`, `1:05`, `2:01:05`. */
export function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const tail = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${tail}` : `${minutes}:${tail}`;
}
