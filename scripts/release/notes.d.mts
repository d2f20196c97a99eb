export function notesOf(version: string, changelog: string): string;
