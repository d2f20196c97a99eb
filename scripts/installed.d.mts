/** Installs a package into a separate directory, when it is not there. Returns its folder. */
export function install(folder: string, spec: string, inModules: string): string;
