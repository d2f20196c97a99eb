import { randomUUID } from 'node:crypto';
import type { Params, Result } from './protocol.ts';

/** Handles commands; undefined for an unknown one. */
export interface CommandTarget {
  handle(method: string, params: Params, session: StubSession): Result | Promise<Result> | undefined;
}

/** Something with a target ID that sessions are opened to. */
export interface StubTarget extends CommandTarget {
  readonly targetId: string;
  /** As CDP's `Target.TargetInfo`. */
  readonly info: { targetId: string; browserContextId: string };
}

/** A client, as its sessions see it. */
export interface SessionHost {
  /** Its session with the browser itself. */
  readonly root: StubSession;
  readonly sessions: StubSession[];
  send(message: object): void;
  open(parent: StubSession, page?: StubTarget): StubSession;
  close(session: StubSession): void;
}

/** A client's line to the browser (without `page`) or to one of its pages. */
export class StubSession {
  readonly id: string | undefined;
  readonly host: SessionHost;
  /** The session that it was opened by, which hears of it; the first one has none. */
  readonly parent: StubSession | undefined;
  readonly page: StubTarget | undefined;
  /** What it wants to hear of. */
  readonly enabled = new Set<'Target' | 'Page' | 'Runtime' | 'lifecycle' | 'autoAttach'>();

  constructor(host: SessionHost, parent?: StubSession, page?: StubTarget) {
    this.host = host;
    this.parent = parent;
    this.page = page;
    this.id = parent && newId();
  }

  emit(method: string, params: object): void {
    this.host.send({ method, params, sessionId: this.id });
  }
}

/** An ID in the manner of Chromium's. */
export function newId(): string {
  return randomUUID().replaceAll('-', '').toUpperCase();
}
