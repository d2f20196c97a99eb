import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Consumer } from './consumer.ts';
import { userEnvironment } from './run-command.ts';
import type { TestService } from './service.ts';

/** Starts `poolwright` of the packed package; stdout by line. */
export function startCommand(consumer: Consumer, { env }: TestService, args: readonly string[]) {
  const cli = join(consumer.directory, 'node_modules/poolwright/dist/cli.js');
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: consumer.directory,
    env: userEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const firstLine = once(reader, 'line').then(([line]) => String(line));
  firstLine.catch(() => undefined);
  const end = once(child, 'close').then(([code, signal]) => ({ code, signal, lines, stderr }));
  return { child, firstLine, end };
}
