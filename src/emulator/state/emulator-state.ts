import { createHash, timingSafeEqual } from 'node:crypto';
import pLimit from 'p-limit';
import type { Clock } from '../../common/clock.ts';
import { DataDirectory } from '../disk/data-directory.ts';
import type { EmulatorSettings } from '../options.ts';
import type { Launcher } from '../running-browser.ts';
import type { BrowserSession } from './browser-session.ts';
import { Workspace } from './workspace.ts';

/** Everything the emulator knows; the API's handlers are functions of a request and this. */
export class EmulatorState {
  readonly #workspaces: { keyDigest: Buffer; workspace: Workspace }[];
  readonly #byCdpToken = new Map<string, BrowserSession>();
  readonly #data: DataDirectory;
  #address: string | undefined;

  constructor(settings: EmulatorSettings, launcher: Launcher, clock: Clock) {
    this.#data = new DataDirectory(settings.data);
    const context = {
      data: this.#data,
      launcher,
      clock,
      startupDeadline: settings.startupDeadline,
      log: settings.log,
      nodes: settings.servedBy,
      warmSlots: pLimit(launcher.warmStarts),
      replaceAfterMs: launcher.replaceAfterMs,
      publish: (session: BrowserSession) => void this.#byCdpToken.set(session.cdpToken, session),
    };
    this.#workspaces = settings.workspaces.map((workspace) => ({
      keyDigest: digest(workspace.apiKey),
      workspace: new Workspace(workspace, context),
    }));
  }

  /**
   * Reads what an earlier emulator left in the data directory, where there is one.
   * @throws EmulatorError `EMULATOR_START_FAILED` when the directory is another emulator's
   */
  async load(): Promise<void> {
    if (!this.#data.isKept) return;
    await this.#data.lock();
    await Promise.all(this.#workspaces.map(({ workspace }) => workspace.stores.load()));
  }

  /**
   * Takes the same time for every key, so that a key cannot be guessed piece by piece: compares all keys, by digest.
   */
  workspaceOf(apiKey: string): Workspace | undefined {
    const asked = digest(apiKey);
    return this.#workspaces.filter(({ keyDigest }) => timingSafeEqual(keyDigest, asked))[0]?.workspace;
  }

  sessionByCdpToken(token: string): BrowserSession | undefined {
    return this.#byCdpToken.get(token);
  }

  /** Where the relay listens (`127.0.0.1:1234`); until it does, no session has a `cdpUrl`. */
  listenAt(address: string): void {
    this.#address = address;
  }

  /** @param host what the client calls this machine; it may have come by another address than the one listened on */
  cdpUrl(session: BrowserSession, host = this.#address): string | null {
    if (session.status !== 'active' || this.#address === undefined) return null;
    return `ws://${host}/cdp/${session.cdpToken}`;
  }

  async stop(): Promise<void> {
    this.#data.closing();
    await Promise.all(this.#workspaces.map(({ workspace }) => workspace.stop()));
    await this.#data.close();
  }
}

function digest(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}
