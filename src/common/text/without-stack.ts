/** An error whose message is for the user: where in our code it was thrown helps nobody. */
export function withoutStack<Thrown>(error: Thrown): Thrown {
  if (error instanceof Error) error.stack = `${error.name}: ${error.message}`;
  return error;
}
