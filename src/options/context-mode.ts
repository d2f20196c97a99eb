/** What a user may write as `context`. */
export type ContextOption = 'auto' | 'isolated' | 'persistent' | { mode: 'persistent'; clear?: boolean };

export interface ContextMode {
  /** The browser's own context, with its profile and extensions, in the place of a new one. */
  persistent: boolean;
  /** Its cookies and storage are cleared after each test. */
  clear: boolean;
}

/** Settings of a browser that show in its own context only. */
interface OwnState {
  profile?: unknown;
  extensionIds?: readonly unknown[] | undefined;
}

/** Whether a browser with these settings has a profile or extensions, which a new context does not show. */
export function hasOwnState({ profile, extensionIds }: OwnState): boolean {
  return profile != null || (extensionIds?.length ?? 0) > 0;
}

/** @param ownState of the browser, which `'auto'` asks for */
export function contextMode(option: ContextOption, ownState: boolean): ContextMode {
  if (typeof option === 'object') return { persistent: true, clear: option.clear ?? false };
  return { persistent: option === 'persistent' || (option === 'auto' && ownState), clear: false };
}
