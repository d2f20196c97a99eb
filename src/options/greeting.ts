import { basename } from 'node:path';
import type { ServiceChoice } from './resolve-service.ts';

/** The first line of a run or a script: the source of its browsers. */
export function greeting(service: ServiceChoice): string {
  if (service.kind === 'hosted') return `hosted browsers of ${new URL(service.baseURL).host}`;
  if (service.kind === 'browsers') {
    const hosts = service.browsers.map(({ url }) => new URL(url).host);
    return `browsers that run at ${hosts.slice(0, 3).join(', ')}${hosts.length > 3 ? ` and ${hosts.length - 3} more` : ''}`;
  }
  if (service.kind === 'provider') return `browsers of ${basename(service.file)}`;
  const why = {
    option: "`service: 'emulator'`",
    variable: 'POOLWRIGHT_SERVICE=emulator',
    'no-key': 'no POOLWRIGHT_API_KEY is set',
  }[service.chosenBy];
  return `browsers on this machine, through the emulator (${why})`;
}
