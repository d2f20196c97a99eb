/** See pages.mjs. */
export const PAGES: { entry: Record<string, string>; globalName: string; target: string };
