/** The data in a film's page. Times are in ms since the test began. */

/** A picture: its time, the number of its address, its size in CSS pixels, and a JPEG in base64. */
export type FilmPicture = [at: number, address: number, width: number, height: number, jpeg: string];

export interface FilmPage {
  from: number;
  until: number;
  addresses: string[];
  /** When it got which address, oldest first. */
  visits: [at: number, address: number][];
  /** Oldest first; none of a page that closed too soon. */
  pictures: FilmPicture[];
}

export interface FilmData {
  title: string;
  /** File and line, project, try: what tells the test from others. */
  facts: string[];
  failed: boolean;
  /** What its first error says, in one or more lines; empty if there is none. */
  error: string;
  pages: FilmPage[];
}
