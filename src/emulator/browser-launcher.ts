import pTimeout from 'p-timeout';
import * as v from 'valibot';
import { errorMessage } from '../common/error-message.ts';
import { EmulatorError } from '../errors.ts';
import { ApiError } from './api-error.ts';
import type { BrowserSpec } from './browser-spec.ts';
import { CdpClients } from './cdp/cdp-clients.ts';
import type { CdpPipe } from './cdp/cdp-pipe.ts';
import { chromiumArguments, chromiumEnvironment, probeArguments } from './chromium/arguments.ts';
import { BrowserProcess } from './chromium/browser-process.ts';
import { chooseChromium } from './chromium/choose-chromium.ts';
import { type Chromiums, type FoundChromium, HOW_TO_GET_CHROMIUM } from './chromium/find-chromium.ts';
import { killGroup, signalGroup } from './chromium/kill-group.ts';
import { BrowserDisks } from './disk/browser-disk.ts';
import type { ProfileDirectories } from './disk/profile-directories.ts';
import type { BrowserDisk, Command } from './disk/separate-disk.ts';
import { EgressProxy } from './egress/egress-proxy.ts';
import type { BrowserFiles, Launcher, RunningBrowser } from './running-browser.ts';

export interface LauncherOptions {
  chromiums: Chromiums;
  extraArguments: readonly string[];
  allowLoopback: boolean;
  profiles: ProfileDirectories;
  log: (line: string) => void;
}

const PROBE_TIMEOUT_MS = 60_000;
/** By the path of the Chromium. */
const userAgents = new Map<string, string>();
const version = v.looseObject({ userAgent: v.string() });

/** Starts Chromiums, and knows every one that is alive. */
export class BrowserLauncher implements Launcher {
  /** Each start is a second of a core. */
  readonly warmStarts = 2;
  readonly replaceAfterMs = 30_000;
  readonly #options: LauncherOptions;
  readonly #alive = new Set<BrowserProcess>();
  readonly #disks: BrowserDisks;
  /** Disks that are being prepared: helper processes without a browser. */
  readonly #making = new Set<Promise<unknown>>();
  /** Asked for now, by the path of the Chromium. */
  readonly #probes = new Map<string, Promise<string>>();
  /** Settles when it is known whether the system supports separate disks for browsers. */
  readonly #tried: Promise<void>;
  #stopped = false;

  constructor(options: LauncherOptions) {
    this.#options = options;
    this.#disks = new BrowserDisks(options.log);
    this.#tried = this.#tryDisk();
  }

  pids(): number[] {
    return [...this.#alive].flatMap(({ pid }) => pid ?? []);
  }

  async launch(spec: BrowserSpec, signal: AbortSignal, files?: BrowserFiles): Promise<RunningBrowser> {
    const { allowLoopback, chromiums, extraArguments, log, profiles } = this.#options;
    const chromium = chooseChromium(chromiums, spec.fullBecause);
    const { path: executable } = chromium;
    const plainUserAgent =
      spec.type === 'hosted' ? undefined : await abortable(this.#plainUserAgent(executable), signal);
    const profileDirectory = await profiles.add();
    // All at once: none needs another.
    const egress = EgressProxy.start({ allowLoopback, upstream: spec.proxyUrl, blocksAds: spec.adblock, log });
    const packing = files?.prepare(profileDirectory, signal) ?? Promise.resolve([]);
    const making = this.#makeDisk({ profileDirectory, executable, extraArguments });
    let child: BrowserProcess | undefined;
    let isReady = false;
    let stopping: Promise<void> | undefined;
    const stop = () => {
      stopping ??= (async () => {
        await egress.then((proxy) => proxy.close()).catch(() => undefined);
        await packing.catch(() => undefined); // it writes into the directory
        await child?.stop(files?.isKept);
        if (isReady) await files?.save(profileDirectory);
        await making.then((disk) => disk.remove()).catch(() => undefined);
        await profiles.remove(profileDirectory);
      })();
      return stopping;
    };
    try {
      const [proxy, extensions, disk] = await Promise.all([egress, packing, making]);
      if (extensions.length > 0) requireFull(chromium);
      const extra = extensions.length > 0 ? [...EXTENSION_ARGUMENTS, ...extraArguments] : extraArguments;
      const context = { profileDirectory, proxyPort: proxy.port, plainUserAgent, extra };
      const command = { file: executable, args: chromiumArguments(spec, context), env: chromiumEnvironment(spec) };
      child = this.#spawn(disk.wrap(command));
      await abortable(this.#start(child, spec, extensions), signal);
      isReady = true;
      void child.exited.then(stop); // one that crashed leaves no proxy and no directory
      const { exited, pid } = child;
      const clients = new CdpClients(child.pipe, (message) => proxy.failures.named(message));
      const started = child;
      /** Its ID while it is its own: one that has ended may be another process's by now. */
      const ifAlive = (act: (pid: number) => void) => {
        if (pid !== undefined && this.#alive.has(started)) act(pid);
      };
      return {
        reserve: () => clients.reserve(),
        exited,
        cut: () => proxy.cut(),
        stop,
        crash: () => ifAlive(killGroup),
        stall: () =>
          ifAlive((id) => {
            signalGroup(id, 'SIGSTOP');
            clients.stall();
          }),
        resume: () =>
          ifAlive((id) => {
            signalGroup(id, 'SIGCONT');
            clients.resume();
          }),
      };
    } catch (error) {
      await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#alive].map((child) => child.stop()));
    while (this.#making.size > 0) await Promise.allSettled(this.#making);
    await this.#options.profiles.removeAll();
  }

  async #start(child: BrowserProcess, spec: BrowserSpec, extensions: string[]): Promise<void> {
    await child.ready();
    await loadExtensions(child.pipe, extensions);
    await prepareFirstPage(child.pipe, spec);
  }

  /** Begins with the emulator, so that its first browser does not wait for it. */
  #tryDisk(): Promise<void> {
    const { chromiums, extraArguments, profiles } = this.#options;
    const { path: executable } = chooseChromium(chromiums, null);
    return this.#whileMaking(async () => {
      const profileDirectory = await profiles.add();
      const disk = await this.#disks.make({ profileDirectory, executable, extraArguments });
      void this.#whileMaking(async () => {
        await disk.remove();
        await profiles.remove(profileDirectory);
      });
    }).catch(() => undefined); // what is wrong here is wrong for the first browser, too, and said there
  }

  /** Until it is removed again, should the emulator be stopped meanwhile. */
  #makeDisk(needs: Parameters<BrowserDisks['make']>[0]): Promise<BrowserDisk> {
    return this.#whileMaking(async () => {
      await this.#tried;
      const disk = await this.#disks.make(needs);
      if (!this.#stopped) return disk;
      await disk.remove();
      throw stopped();
    });
  }

  async #whileMaking<T>(work: () => Promise<T>): Promise<T> {
    const making = work();
    this.#making.add(making);
    try {
      return await making;
    } finally {
      this.#making.delete(making);
    }
  }

  #spawn(command: Command): BrowserProcess {
    if (this.#stopped) throw stopped();
    const child = new BrowserProcess(command);
    this.#alive.add(child);
    void child.exited.then(() => this.#alive.delete(child));
    return child;
  }

  /** A Chromium's own user agent without the word "Headless". A process asks each Chromium once: it takes a start. */
  async #plainUserAgent(executable: string): Promise<string> {
    const known = userAgents.get(executable);
    if (known !== undefined) return known;
    const probe = this.#probes.get(executable) ?? this.#probeUserAgent(executable);
    this.#probes.set(executable, probe);
    try {
      userAgents.set(executable, await probe);
      return await probe;
    } finally {
      this.#probes.delete(executable);
    }
  }

  async #probeUserAgent(executable: string): Promise<string> {
    const { extraArguments, profiles } = this.#options;
    const profileDirectory = await profiles.add();
    const args = probeArguments(profileDirectory, extraArguments);
    const child = this.#spawn({ file: executable, args, env: chromiumEnvironment() });
    try {
      const response = await pTimeout(child.pipe.send('Browser.getVersion'), { milliseconds: PROBE_TIMEOUT_MS });
      return v.parse(version, response).userAgent.replace('HeadlessChrome', 'Chrome');
    } finally {
      await child.stop();
      await profiles.remove(profileDirectory);
    }
  }
}

/** @throws ApiError 400: the headless shell would start, and the extensions would not be there */
function requireFull({ kind, path }: FoundChromium): void {
  if (kind === 'full') return;
  throw new ApiError(
    400,
    `extensionIds: extensions need full Chromium, and the emulator has only the headless shell ${path}. ${HOW_TO_GET_CHROMIUM}`,
  );
}

function stopped(): EmulatorError {
  return new EmulatorError('EMULATOR_START_FAILED', 'The emulator is being stopped.');
}

async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await pTimeout(work, { milliseconds: Number.POSITIVE_INFINITY, signal });
}

const targets = v.looseObject({ targetInfos: v.array(v.looseObject({ targetId: v.string(), type: v.string() })) });
const attached = v.looseObject({ sessionId: v.string() });
const evaluated = v.looseObject({ result: v.looseObject({ value: v.optional(v.unknown()) }) });

/** Lets the pipe load extensions; newer Chromiums allow it without. */
const EXTENSION_ARGUMENTS = ['--enable-unsafe-extension-debugging'];

/**
 * Loads unpacked extensions into a running browser, because Chrome no longer has an argument for it.
 * @throws ApiError 400 with Chromium's reason
 */
async function loadExtensions(pipe: CdpPipe, directories: readonly string[]): Promise<void> {
  for (const path of directories) {
    try {
      await pipe.send('Extensions.loadUnpacked', { path });
    } catch (error) {
      const said = errorMessage(error).replaceAll(path, 'the extension');
      throw new ApiError(400, `extensionIds: ${said}`, { cause: error });
    }
  }
}

/** Prepares the browser's first page: runs the script of `browserCheck` in it, and opens `url` in it. */
async function prepareFirstPage(pipe: CdpPipe, spec: BrowserSpec): Promise<void> {
  if (!spec.browserCheck && spec.url === undefined) return;
  const { targetInfos } = v.parse(targets, await pipe.send('Target.getTargets'));
  const page = targetInfos.find(({ type }) => type === 'page');
  if (!page) throw new ApiError(500, 'The browser has no page');
  const { targetId } = page;
  const { sessionId } = v.parse(attached, await pipe.send('Target.attachToTarget', { targetId, flatten: true }));
  if (spec.browserCheck) {
    const response = v.parse(evaluated, await pipe.send('Runtime.evaluate', { expression: '6 * 7' }, sessionId));
    if (response.result.value !== 42) throw new ApiError(500, 'The browser check failed: a page does not run script');
  }
  const navigated = spec.url === undefined ? undefined : pipe.send('Page.navigate', { url: spec.url }, sessionId);
  // Opened, not loaded: a slow or broken site is not a failed start. Letting go of the page waits for the navigation.
  void Promise.resolve(navigated)
    .then(() => pipe.send('Target.detachFromTarget', { sessionId }))
    .catch(() => undefined);
}
