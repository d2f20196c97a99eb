export type Params = Record<string, unknown>;
export type Result = Record<string, unknown>;

/** What a command is refused with. */
export class CdpError extends Error {
  override readonly name = 'CdpError';
  readonly code: number;

  constructor(message: string, code = -32_000) {
    super(message);
    this.code = code;
  }
}

/** Settings: a stub has nothing that they would change, and a client only waits for the response. */
const SETTINGS =
  /\.(enable|disable|(set|clear|add|remove|reset|release|grant|cancel|activate|detach|discard)\w*|runIfWaitingForDebugger|bringToFront)$/;

/** @throws CdpError unless nothing is expected of the command but that it was heard. */
export function acknowledge(method: string): Result {
  if (SETTINGS.test(method)) return {};
  throw new CdpError(`'${method}' wasn't found (a stub browser speaks little CDP)`, -32_601);
}
