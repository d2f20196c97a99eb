/** What users may import; paths from the package's directory. */
export interface Entry {
  name: string;
  types: string;
  import?: string;
  require?: string;
  /** Whether `require` has types, with or without code. */
  hasCommonJsTypes: boolean;
}

export function entriesOf(manifest: { name: string; exports: Record<string, unknown> }): Entry[];
