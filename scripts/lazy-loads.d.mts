export function lazyLoadProblems(directory: string): Promise<string[]>;
