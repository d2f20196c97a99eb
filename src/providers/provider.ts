/** Provides a run's browsers in place of the service. Failures are `ServiceError`s with the service's codes. */
export interface BrowserProvider {
  /** Checks, before a run begins, that there is a browser. @throws ServiceError */
  check(signal: AbortSignal): Promise<void>;
  /** @throws ServiceError `SERVICE_LIMIT_REACHED`, `SERVICE_UNAVAILABLE` */
  acquire(signal: AbortSignal): Promise<ProvidedBrowser>;
  /** Takes a browser back. Safe to call again. */
  release(id: string): Promise<void>;
}

/** A browser, until it is released. */
export interface ProvidedBrowser {
  /** Unlike that of every other browser that was provided. */
  id: string;
  /** A secret. */
  cdpUrl: string;
}
