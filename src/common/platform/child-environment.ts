/**
 * The environment for a program that is not a part of the run, such as a browser: without the variables of poolwright,
 * which have its keys, tokens and addresses.
 * @param keep variables of poolwright that the program needs
 */
export function childEnvironment(keep: readonly string[] = []): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    // Windows takes `poolwright_api_key` for the same variable.
    ([name]) => !/^POOLWRIGHT_/i.test(name) || keep.includes(name),
  );
  return Object.fromEntries(entries);
}
