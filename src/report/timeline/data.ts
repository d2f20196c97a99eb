/** Data of the timeline page, as JSON in the page. Compact, because there may be thousands of tests. */

/** Times are ms since `from`; `project`, `shard` and `file` are indexes of the lists. */
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
  /** `running` if its end is not recorded. */
  reason: string;
  confirmed: boolean | null;
  workers: number;
  observed: number;
  proxied: number;
  service: number | null;
  failures: string[];
}

/**
 * `session`, `start`, `duration`, `status`, `ok` (0 or 1), `retry`, `project`, `file`, `line`, `title`, `id`,
 * `observed`, `lost`, `held`, `proxied`, `sent` (of `proxied`), `evidence`. The bytes are null if unknown.
 */
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
  observed: number | null,
  lost: string | null,
  held: string | null,
  proxied: number | null,
  sent: number | null,
  /** Address of its directory, relative to the page. */
  evidence: string | null,
];

export interface TimelineData {
  /** ms since the epoch. */
  from: number;
  /** Total time in ms. */
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
  /** Address of Playwright's HTML report relative to the page, without a hash, or null. */
  report: string | null;
}

/** A row of a table, with its index in `tests`. */
export interface TimelineNamed {
  test: number;
  value: string;
}
