import type { ChromiumKind, Chromiums, FoundChromium } from './find-chromium.ts';

const NAMES: Record<ChromiumKind, string> = { shell: 'headless shell', full: 'full Chromium' };
/** What a session's browser must be full Chromium for; the reasons that {@link chooseChromium} is given. */
const FULL_FOR = 'stealth and privacy types, profiles and extensions';

/**
 * The lightest Chromium that can do the job. Where only one kind is there, that one.
 * @param fullBecause why only full Chromium will do; null: the headless shell does
 */
export function chooseChromium({ shell, full }: Chromiums, fullBecause: string | null): FoundChromium {
  const chosen = fullBecause === null ? (shell ?? full) : (full ?? shell);
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
