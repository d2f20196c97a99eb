export function pack(destination: string, directory?: string): { file: string; size: number; unpackedSize: number };
export function npm(args: string[], cwd?: string): string;
