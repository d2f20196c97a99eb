export function findingsIn(file: string, text: string): string[];
