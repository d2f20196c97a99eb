/** What a caught value says: the message of an error, anything else as a string. Not redacted. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error for the user, without a stack, because our code's stack does not help. */
export function withoutStack<Thrown>(error: Thrown): Thrown {
  if (error instanceof Error) error.stack = String(error);
  return error;
}
