import type { RunRecord } from '../../record/run-record.ts';

/** The data of a section of the page; null: the page has none. */
export type Section = (record: RunRecord) => object | null;

/** The sections that a timeline can do without, one line each. */
export { adviceOn as advice } from '../advise/timeline-section.ts';
