import { OptionsError } from '../../errors.ts';

/** The arguments with which a tool starts a browser. */
export interface BrowserArguments {
  asksVersion: boolean;
  /** How the tool connects. */
  pipe: boolean;
  /** 0: any free one; null: no port. */
  port: number | null;
  userDataDir: string | null;
  /** What the first page shows; null: there is no first page. */
  open: string | null;
  /** Flags without effect. */
  ignored: string[];
}

/** The result would be wrong without them, and a browser elsewhere cannot have them. */
const REFUSED: Readonly<Record<string, string>> = {
  'load-extension': 'upload it (`npx poolwright extensions`) and name it in `session: { extensionIds }`',
  'proxy-server': 'set `session: { proxyUrl }`, or `proxy` of a context',
  'proxy-pac-url': 'set `session: { proxyUrl }`, or `proxy` of a context',
};
/** With these, Chromium opens a page, writes a result and ends: no tool connects. */
const WITHOUT_TOOL = ['dump-dom', 'print-to-pdf', 'screenshot'];
const KNOWN = new Set([
  'version',
  'product-version',
  'remote-debugging-pipe',
  'remote-debugging-port',
  'user-data-dir',
  'no-startup-window',
]);

/** Whether the result would be wrong in a hosted browser. */
export function needsLocalBrowser(args: readonly string[]): boolean {
  return args.some((arg) => Object.keys(REFUSED).some((name) => arg.startsWith(`--${name}=`)));
}

/** @throws OptionsError for a flag without which the result would be wrong */
export function browserArguments(args: readonly string[]): BrowserArguments {
  const flags = new Map<string, string>();
  const addresses: string[] = [];
  for (const arg of args) {
    const [, name, value = ''] = /^--?([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === undefined) addresses.push(arg);
    else flags.set(name, value);
  }
  for (const [name, instead] of Object.entries(REFUSED)) {
    if (flags.get(name)) throw new OptionsError(`--${name}`, `A hosted browser cannot have \`--${name}\`: ${instead}.`);
  }
  for (const name of WITHOUT_TOOL.filter((each) => flags.has(each)))
    throw new OptionsError(`--${name}`, `A hosted browser cannot do \`--${name}\`: use a tool that connects to it.`);
  const port = flags.get('remote-debugging-port');
  const address = addresses.at(-1) ?? 'about:blank';
  return {
    asksVersion: flags.has('version') || flags.has('product-version'),
    pipe: flags.has('remote-debugging-pipe'),
    port: port === undefined ? null : portOf(port),
    userDataDir: flags.get('user-data-dir') || null,
    open: flags.has('no-startup-window') ? null : withScheme(address),
    ignored: [...flags.keys()].filter((name) => !KNOWN.has(name)),
  };
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new OptionsError('--remote-debugging-port', '`--remote-debugging-port` must be a port: 0 to 65535.');
}

function withScheme(address: string): string {
  return /^[a-z][a-z\d+.-]*:/i.test(address) ? address : `http://${address}`;
}
