import type { Launcher } from '../browser/running-browser.ts';
import type { Clock } from '../clock.ts';
import { DataFolder } from '../data-folder.ts';
import type { EmulatorSettings } from '../options.ts';
import type { BrowserSession } from './browser-session.ts';
import { Semaphore } from './semaphore.ts';
import { Workspace } from './workspace.ts';

/** Warm browsers that may start at once: each start is a second of a core, one that mostly waits is less. */
const WARM_STARTS = { chromium: 2, delayed: 8, stub: 100 };

/** Everything the emulator knows; the API's handlers are functions of a request and this. */
export class EmulatorState {
  readonly #workspaces = new Map<string, Workspace>();
  readonly #byCdpToken = new Map<string, BrowserSession>();
  readonly #data: DataFolder;
  #cdpOrigin: string | undefined;

  constructor(settings: EmulatorSettings, launcher: Launcher, clock: Clock) {
    this.#data = new DataFolder(settings.data);
    const context = {
      data: this.#data,
      launcher,
      clock,
      startupDeadline: settings.startupDeadline,
      log: settings.log,
      nodes: settings.servedBy,
      warmSlots: new Semaphore(
        WARM_STARTS[settings.browser === 'stub' ? 'stub' : settings.startDelay > 0 ? 'delayed' : 'chromium'],
      ),
      publish: (session: BrowserSession) => void this.#byCdpToken.set(session.cdpToken, session),
    };
    for (const workspace of settings.workspaces) {
      this.#workspaces.set(workspace.apiKey, new Workspace(workspace, context));
    }
  }

  /**
   * Reads what an earlier emulator left in the data folder, where there is one.
   * @throws EmulatorError `EMULATOR_START_FAILED` when the folder is another emulator's
   */
  async load(): Promise<void> {
    if (!this.#data.outlives) return;
    await this.#data.claim();
    await Promise.all([...this.#workspaces.values()].map((workspace) => workspace.stores.load()));
  }

  workspaceOf(apiKey: string): Workspace | undefined {
    return this.#workspaces.get(apiKey);
  }

  sessionByCdpToken(token: string): BrowserSession | undefined {
    return this.#byCdpToken.get(token);
  }

  /** Where the relay listens (`ws://127.0.0.1:1234`); until it does, no session has a `cdpUrl`. */
  listenAt(cdpOrigin: string): void {
    this.#cdpOrigin = cdpOrigin;
  }

  cdpUrl(session: BrowserSession): string | null {
    if (session.status !== 'active' || this.#cdpOrigin === undefined) return null;
    return `${this.#cdpOrigin}/cdp/${session.cdpToken}`;
  }

  async stop(): Promise<void> {
    this.#data.closing();
    await Promise.all([...this.#workspaces.values()].map((workspace) => workspace.stop()));
    await this.#data.close();
  }
}
