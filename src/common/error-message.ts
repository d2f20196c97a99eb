/** What a caught value says: the message of an error, anything else as a string. Not redacted. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
