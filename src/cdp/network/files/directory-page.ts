import type { Dirent } from 'node:fs';
import { posix, win32 } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The parts of Chromium's own directory page that a test may check: its title and links. */
export function directoryPage(
  path: string,
  entries: readonly Pick<Dirent, 'name' | 'isDirectory'>[],
  windows = process.platform === 'win32',
): string {
  const { sep } = windows ? win32 : posix;
  const directory = path.endsWith(sep) ? path : path + sep;
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const addressOf = (name: string) => pathToFileURL(directory + name, { windows }).href;
  const links = names.map((name) => link(addressOf(name), name));
  links.unshift(link(new URL('..', addressOf('')).href, '../'));
  return `<!doctype html><title>Index of ${escaped(directory)}</title><h1>Index of ${escaped(directory)}</h1><ul>${links.join('')}</ul>`;
}

function link(href: string, name: string): string {
  return `<li><a href="${escaped(href)}">${escaped(name)}</a></li>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
