import { readFileSync } from 'node:fs';
import { OptionsError } from '../../errors.ts';

/** The current and the planned content of one file, with its absolute path. */
export interface FileChange {
  file: string;
  /** Null: the file is new. */
  before: string | null;
  after: string;
}

/** Lines that the user has to add, because the file cannot be edited safely. */
export interface ByHand {
  file: string;
  /** Ends a sentence that begins with the file's name. */
  why: string;
  /** The instruction above `lines`. */
  todo: string;
  lines: string[];
}

const BOM = '\uFEFF';

/**
 * The findings and planned changes of `poolwright init`. Each step adds to it, and reads files through it: steps build
 * on each other.
 */
export class Plan {
  /** Existing parts of the setup, a sentence each. */
  readonly present: string[] = [];
  readonly byHand: ByHand[] = [];
  /** Where the suite starts browsers itself; lines from 1. */
  readonly launches: { file: string; line: number }[] = [];
  /** Notes to read before saying yes. */
  readonly notes: string[] = [];
  /** The next steps of the user, in order. */
  readonly next: string[] = [];
  private readonly files = new Map<string, { before: string | null; after: string | null }>();

  /**
   * A file's text as it will be, without a byte order mark; null when there is none.
   * @throws OptionsError for a file that cannot be read, or is not UTF-8
   */
  read(file: string): string | null {
    const known = this.files.get(file) ?? { before: onDisk(file), after: null };
    this.files.set(file, known);
    const text = known.after ?? known.before;
    return text?.startsWith(BOM) ? text.slice(1) : text;
  }

  /** Sets a file's text; a byte order mark stays. */
  write(file: string, text: string): void {
    this.read(file);
    const before = this.files.get(file)?.before ?? null;
    this.files.set(file, { before, after: before?.startsWith(BOM) ? BOM + text : text });
  }

  get changes(): FileChange[] {
    return [...this.files].flatMap(([file, { before, after }]) =>
      after === null || after === before ? [] : [{ file, before, after }],
    );
  }
}

/**
 * A file's text; null when there is none.
 * @throws OptionsError for a file that cannot be read, or is not UTF-8
 */
export function onDisk(file: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`;
    throw new OptionsError('--config', `${file} ${why}. Nothing was changed.`);
  }
}
