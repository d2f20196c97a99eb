/** Installs packages into a separate directory unless it exists. Returns the directory of the package `inModules`. */
export function install(directory: string, specs: readonly string[], inModules: string): string;
