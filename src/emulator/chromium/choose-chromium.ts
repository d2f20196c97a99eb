import type { ChromiumKind, Chromiums, FoundChromium } from './find-chromium.ts';

const NAMES: Record<ChromiumKind, string> = { shell: 'headless shell', full: 'full Chromium' };
/** The reasons of {@link fullBecause}, in words. */
const FULL_FOR = 'stealth and privacy types, profiles and extensions';

/** The part of a request for a browser that decides. */
export interface Wanted {
  type?: string | undefined;
  extensionIds?: readonly string[] | undefined;
  profile?: object | undefined;
}

/**
 * Why a browser must be full Chromium; null: the headless shell does. The shell takes no extensions and can be
 * distinguished from a browser, and all types share a profile.
 */
export function fullBecause({ type = 'hosted', extensionIds = [], profile }: Wanted): string | null {
  if (extensionIds.length > 0) return 'extensionIds';
  if (type !== 'hosted') return `type ${type}`;
  return profile ? 'profile' : null;
}

/**
 * The lightest Chromium that can do the job. Where only one kind is there, that one.
 * @param reason why only full Chromium will do; null: the headless shell will do, too
 */
export function chooseChromium({ shell, full }: Chromiums, reason: string | null): FoundChromium {
  const chosen = reason === null ? (shell ?? full) : (full ?? shell);
  if (!chosen) throw new TypeError('findChromiums() finds one or throws');
  return chosen;
}

/** Which Chromium is run for what, and why; one line each. */
export function describeChromiums(chromiums: Chromiums): string[] {
  const { shell, full } = chromiums;
  if (shell && full) {
    return [
      `${describe(shell)}: for sessions of type hosted, as the lightest that can run them`,
      `${describe(full)}: for ${FULL_FOR}`,
    ];
  }
  const only = chooseChromium(chromiums, null);
  if (only.kind === 'full' && isNamed(only))
    return [`${describe(only)}: for all sessions, because only this one is configured`];
  if (only.kind === 'full')
    return [`${describe(only)}: for all sessions; a headless shell would need less processor time`];
  return [
    `${describe(only)}: for all sessions, though a page can tell it from a stealth browser, and it takes no extensions: those need full Chromium`,
  ];
}

function describe({ kind, path, source }: FoundChromium): string {
  return `${path} (${NAMES[kind]}, ${isNamed({ source }) ? `named by ${sourceName(source)}` : sourceName(source)})`;
}

function isNamed({ source }: Pick<FoundChromium, 'source'>): boolean {
  return source !== 'playwright' && source !== 'system';
}

function sourceName(source: FoundChromium['source']): string {
  if (source === 'playwright') return "Playwright's download";
  if (source === 'system') return "the system's";
  return source === 'option' ? 'an option' : source;
}
