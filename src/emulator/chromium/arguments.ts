import { statfsSync } from 'node:fs';
import { childEnvironment } from '../../common/platform/processes.ts';
import type { BrowserSpec } from '../browser-spec.ts';

/** A host that never resolves (RFC 2606); the egress proxy turns it away without a look-up or a word. */
export const NOWHERE = 'poolwright.invalid';

/** Makes Chromium quiet and steady: no background traffic, no first-run pages, no throttling of hidden tabs. */
const QUIET = [
  '--headless=new',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--no-pings',
  '--disable-background-networking',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-field-trial-config',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-search-engine-choice-screen',
  // Playwright also turns off the partitions of storage: `storageState` is for the frames of other sites, too.
  '--disable-features=AimEnabled,AimServerEligibilityEnabled,AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,GlobalMediaControls,InterestFeedContentSuggestions,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PreconnectToSearch,ThirdPartyStoragePartitioning,Translate',
  // Requests that no switch turns off go to an invalid address, so that they cost no bandwidth.
  `--gaia-url=https://accounts.${NOWHERE}`,
  `--component-updater=url-source=http://updates.${NOWHERE}/`,
  `--gcm-checkin-url=https://checkin.${NOWHERE}`,
  `--gcm-registration-url=https://register.${NOWHERE}`,
  `--gcm-mcs-endpoint=https://messages.${NOWHERE}`,
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-hang-monitor',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--metrics-recording-only',
  '--password-store=basic',
  '--use-mock-keychain',
  // QUIC is UDP: it would leave past the proxy, unmetered.
  '--disable-quic',
];

/**
 * Pages look as in a browser that Playwright starts, so that screenshots match baselines made with one. The machine's
 * display does not count, and there is a mouse: a headless Chromium has none, and no desktop browser is without.
 */
const DRAWING = [
  '--force-color-profile=srgb',
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4',
];

export interface LaunchContext {
  profileDirectory: string;
  proxyPort: number;
  /** The user agent of this Chromium with nothing in it that says headless; needed for the stealth types. */
  plainUserAgent: string | undefined;
  extra: readonly string[];
}

/** The command line of one session's Chromium. It holds no secret: the process list is public. */
export function chromiumArguments(spec: BrowserSpec, context: LaunchContext): string[] {
  const args = [
    ...QUIET,
    ...DRAWING,
    ...sandboxArguments(),
    // Chromium ends when the pipe breaks: it cannot outlive the emulator. A port would be open to everybody on this
    // machine.
    '--remote-debugging-pipe',
    `--user-data-dir=${context.profileDirectory}`,
    `--proxy-server=socks5://127.0.0.1:${context.proxyPort}`,
    '--proxy-bypass-list=<-loopback>',
    `--lang=${spec.language}`,
    `--accept-lang=${spec.acceptLanguage}`,
    `--window-size=${spec.windowSize.replace('x', ',')}`,
    `--screen-info={${spec.displaySize}}`,
  ];
  if (spec.type === 'hosted') args.push('--hide-scrollbars');
  // A page can measure that scrollbars are missing.
  else args.push('--disable-blink-features=AutomationControlled');
  if (context.plainUserAgent) args.push(`--user-agent=${context.plainUserAgent}`);
  if (spec.disableSpeechApi) args.push('--disable-speech-api');
  return [...args, ...context.extra, 'about:blank'];
}

/** For a Chromium that only prints its version. */
export function probeArguments(profileDirectory: string, extra: readonly string[]): string[] {
  return [...QUIET, ...sandboxArguments(), '--remote-debugging-pipe', `--user-data-dir=${profileDirectory}`, ...extra];
}

/** The environment of one session's Chromium: this process's own, without what is ours alone. */
export function chromiumEnvironment(spec?: Pick<BrowserSpec, 'timezone' | 'language'>): NodeJS.ProcessEnv {
  const inherited = childEnvironment();
  if (!spec) return inherited;
  return { ...inherited, TZ: spec.timezone, LANGUAGE: spec.language.replaceAll('-', '_') };
}

function sandboxArguments(): string[] {
  const args: string[] = [];
  // Chromium refuses to run as root with its sandbox; and without, it warns in a bar that makes pages smaller.
  if (process.getuid?.() === 0) args.push('--no-sandbox', '--test-type');
  if (isSharedMemorySmall()) args.push('--disable-dev-shm-usage');
  return args;
}

/** Docker gives a container 64 MB of it by default: pages crash there. */
function isSharedMemorySmall(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize < 1024 ** 3;
  } catch {
    return true;
  }
}
