/** Draws a section from its data. */
export type DrawSection = (data: never) => HTMLElement | null;

/** The sections that the page can do without, one line each, by the names of their data. */
export { adviceSection as advice } from '../../advise/page/section.ts';
