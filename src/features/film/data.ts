/** The data in a film's page. Times are in ms since the test began. */

/** A picture: its time, the number of its address, its size in CSS pixels, and a JPEG in base64. */
export type FilmPicture = [at: number, address: number, width: number, height: number, jpeg: string];

export interface FilmPage {
  from: number;
  until: number;
  addresses: string[];
  /** Oldest first; at least one. */
  pictures: FilmPicture[];
}

export interface FilmData {
  title: string;
  /** File and line, project, try: what tells the test from others. */
  facts: string[];
  failed: boolean;
  pages: FilmPage[];
}
