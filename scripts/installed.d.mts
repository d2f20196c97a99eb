/** Installs a package into a separate directory, when it is not there. Returns its directory. */
export function install(directory: string, spec: string, inModules: string): string;
