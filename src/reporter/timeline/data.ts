/** What the timeline page gets of a record, as JSON in the page: short, because there may be thousands of tests. */

/** Times are ms since `from`; `project`, `shard` and `file` are places in the lists. */
export interface TimelineSession {
  id: string;
  lease: string | null;
  pool: string | null;
  servedBy: string | null;
  type: string | null;
  project: number;
  shard: number;
  slot: number;
  asked: number | null;
  had: number;
  lent: number | null;
  waitMs: number | null;
  ending: number | null;
  ended: number;
  /** `running`: it is not on record how it ended. */
  reason: string;
  confirmed: boolean | null;
  workers: number;
  observed: number;
  bridged: number;
  service: number | null;
  failures: string[];
}

/** `session`, `start`, `duration`, `status`, `ok` (0 or 1), `retry`, `project`, `file`, `line`, `title`, `id`, `bytes`, `lost`. */
export type TimelineTest = [
  session: number,
  start: number,
  duration: number,
  status: number,
  ok: 0 | 1,
  retry: number,
  project: number,
  file: number,
  line: number,
  title: string,
  id: string,
  bytes: number | null,
  lost: string | null,
];

export interface TimelineData {
  /** ms since the epoch. */
  from: number;
  /** ms from first to last. */
  length: number;
  runIds: string[];
  service: string | null;
  projects: string[];
  /** `1/3`, or empty without shards. */
  shards: string[];
  files: string[];
  statuses: string[];
  sessions: TimelineSession[];
  tests: TimelineTest[];
  figures: { label: string; value: string }[];
  slowest: TimelineNamed[];
  heaviest: TimelineNamed[];
  problems: string[];
  /** How many browsers a run like this needs; null where the record does not tell. */
  advice: TimelineAdvice | null;
  /** Address of Playwright's HTML report from the page, without a hash; null without one. */
  report: string | null;
}

/** What is expected of runs with other numbers of browsers. Times in ms. */
export interface TimelineAdvice {
  choices: TimelineChoice[];
  /** Place in `choices`; -1: none. */
  recommended: number;
  /** The runs that it is made from, as they were. */
  runs: { browsers: number; wallMs: number }[];
  /** The longest that one worker is busy with one group of tests. */
  boundMs: number;
  sentences: string[];
}

/** A number of browsers, and what a run with them takes. */
export interface TimelineChoice {
  browsers: number;
  shards: number;
  workers: number;
  medianMs: number;
  p90Ms: number;
  browserMs: number;
  /** Null without prices. */
  cost: number | null;
}

/** A test of the tables, by its place in `tests`. */
export interface TimelineNamed {
  test: number;
  value: string;
}
