import { randomBytes, randomUUID } from 'node:crypto';
import { type Clock, isoTime } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import type { SessionStatus } from '../../service/schemas/session.ts';
import { ApiError } from '../api-error.ts';
import type { BrowserSpec } from '../browser-spec.ts';
import type { BrowserExit } from '../chromium/browser-process.ts';
import type { Launcher, RunningBrowser } from '../running-browser.ts';
import type { SessionFiles } from './session-files.ts';

export interface SessionContext {
  launcher: Launcher;
  clock: Clock;
  startupDeadline: number;
  log: (line: string) => void;
}

export interface SessionRequest {
  spec: BrowserSpec;
  servedBy: string;
  note: string | null;
  /** Its profile and extensions; undefined: none. */
  files?: SessionFiles | undefined;
}

/**
 * One browser's life: `starting` → `active` → `completed` (stopped, expired, closed) or `error` (crashed, never
 * started). It is the same for a created session and for a warm one that waits in a pool.
 */
export class BrowserSession {
  readonly sessionId = `ses_${randomUUID().replaceAll('-', '')}`;
  /** The secret part of its `cdpUrl`: 256 random bits. */
  readonly cdpToken = randomBytes(32).toString('base64url');
  readonly createdAt: string;
  readonly servedBy: string;
  note: string | null;
  readonly #context: SessionContext;
  readonly #spec: BrowserSpec;
  readonly files: SessionFiles | undefined;
  readonly #launchAborted = new AbortController();
  readonly #endListeners = new Set<() => void>();
  #status: SessionStatus = 'starting';
  #stoppedAt: string | null = null;
  #bandwidthBytes: number | null = null;
  #browser: RunningBrowser | undefined;
  #starting: Promise<void> | undefined;
  #cleanedUp: Promise<void> | undefined;

  constructor(request: SessionRequest, context: SessionContext) {
    this.#context = context;
    this.#spec = request.spec;
    this.files = request.files;
    this.servedBy = request.servedBy;
    this.note = request.note;
    this.createdAt = isoTime(context.clock);
  }

  get status(): SessionStatus {
    return this.#status;
  }

  /** Whether it counts towards the concurrency limit. */
  get isLive(): boolean {
    return this.#status === 'starting' || this.#status === 'active';
  }

  get stoppedAt(): string | null {
    return this.#stoppedAt;
  }

  /** The service's own figure, in bytes: null while the session runs, final from its end on. */
  get bandwidthBytes(): number | null {
    return this.#bandwidthBytes;
  }

  /** The browser of clients and faults; only while the session is `active`. */
  get browser(): RunningBrowser | undefined {
    return this.#status === 'active' ? this.#browser : undefined;
  }

  /** Calls `listener` at once when the session ends. Returns a function that unsubscribes. */
  onEnd(listener: () => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  /**
   * Resolves when the browser is CDP-ready, or when the session was stopped meanwhile.
   * @throws ApiError 504 after the startup deadline, 500 when the browser fails. Then nothing is running.
   */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Ends the session, which frees its slot at once. Resolves when all its processes have ended. */
  async stop(): Promise<void> {
    this.#end('completed');
    await this.#starting?.catch(() => undefined);
    await this.#cleanUp();
  }

  async #start(): Promise<void> {
    const { launcher, startupDeadline } = this.#context;
    const deadline = setTimeout(() => this.#launchAborted.abort(deadlinePassed(startupDeadline)), startupDeadline);
    try {
      const browser = await launcher.launch(this.#spec, this.#launchAborted.signal, this.files);
      this.#browser = browser;
      if (this.#status !== 'starting') return await this.#cleanUp(); // stopped just as it became ready
      this.#status = 'active';
      void browser.exited.then((exit) => this.#onExit(exit));
    } catch (error) {
      if (this.#status !== 'starting') return; // stopped meanwhile, which is what aborted the launch
      this.#end('error');
      await this.#cleanUp();
      throw this.#startError(error);
    } finally {
      clearTimeout(deadline);
    }
  }

  #startError(error: unknown): ApiError {
    const text = errorMessage(error);
    this.#context.log(`session ${this.sessionId}: did not start: ${text}`);
    if (error instanceof ApiError) return error;
    return new ApiError(500, 'The browser failed to start', { cause: error });
  }

  #onExit({ code, signal }: BrowserExit): void {
    if (this.#status !== 'active') return;
    // A client may send `Browser.close` over CDP; Chromium then ends in order and with code 0.
    this.#end(code === 0 ? 'completed' : 'error');
    if (code !== 0)
      this.#context.log(`session ${this.sessionId}: the browser crashed (${signal ?? `exit code ${code}`})`);
    void this.#cleanUp();
  }

  #end(status: 'completed' | 'error'): void {
    if (!this.isLive) return;
    this.#status = status;
    this.#stoppedAt = isoTime(this.#context.clock);
    this.files?.end(status === 'completed');
    this.#bandwidthBytes = this.#browser?.cut() ?? 0;
    this.#launchAborted.abort();
    for (const listener of this.#endListeners) listener();
    this.#endListeners.clear();
  }

  #cleanUp(): Promise<void> {
    this.#cleanedUp ??= (this.#browser?.stop() ?? Promise.resolve()).finally(() => this.files?.close());
    return this.#cleanedUp;
  }
}

function deadlinePassed(deadline: number): ApiError {
  return new ApiError(504, `The browser did not become ready within the startup deadline of ${deadline / 1000} s`);
}
