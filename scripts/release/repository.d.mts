export function inRepository(manifest: string, repository: string): string;
