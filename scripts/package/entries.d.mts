/** What users may import; paths from the package's folder. */
export interface Entry {
  name: string;
  types: string;
  import?: string;
  require?: string;
}

export function entriesOf(manifest: { name: string; exports: Record<string, unknown> }): Entry[];
