import fc from 'fast-check';
import { expect, test } from '../support/e2e/fixtures.ts';
import { brokerOf, leftProcesses } from '../support/e2e/process-tree.ts';
import { startCommand } from '../support/e2e/start-command.ts';
import { send } from '../support/processes.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { poolwright } from '../support/run-cli.ts';

/** A command with a browser that it has started, one that it has connected to, and a connection that says nothing. */
const TOOL = `
import { WebSocket } from 'ws';
import puppeteer from 'puppeteer-core';
const started = await puppeteer.launch({ pipe: true, executablePath: process.env.CHROME_PATH });
await puppeteer.connect({ browserWSEndpoint: process.env.POOLWRIGHT_ENDPOINT });
new WebSocket(process.env.POOLWRIGHT_ENDPOINT).on('error', () => undefined);
console.log(JSON.stringify({ command: process.pid, program: started.process().pid }));
setInterval(() => undefined, 1000);`;

/** How many histories; e2e/commands/exec.spec.ts ends the program and `exec`. */
const HISTORIES = process.env.CHAOS_RUNS === undefined ? 4 : 20;

/** What happens, one after the other. */
const histories = fc.shuffledSubarray(['command', 'program', 'broker', 'exec', 'a browser', 'hang'] as const, {
  minLength: 1,
});

test.use({ browsers: 'shell' });

for (const [n, history] of fc.sample(histories, propertyRuns(100, HISTORIES)).entries()) {
  test(`history ${n + 1} leaves no browser: ${history.join(', ')}`, async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'module', ['ws', 'puppeteer-core']);
    await consumer.write({ 'tool.mjs': TOOL });
    const { child, firstLine, end } = startCommand(consumer, service, ['exec', 'node', 'tool.mjs']);
    const exec = child.pid ?? 0;
    const { command, program } = JSON.parse(await firstLine);
    const broker = brokerOf(exec);
    const kill = (pid: number) => send(pid, 'SIGKILL');
    for (const what of history) {
      if (what === 'command') kill(command);
      if (what === 'program') kill(program);
      if (what === 'broker') kill(broker);
      if (what === 'exec') kill(exec);
      if (what === 'hang') send(program, 'SIGSTOP');
      if (what === 'a browser') service.emulator.browserPids().slice(0, 1).forEach(kill);
    }
    // The user ends what is left of it.
    kill(command);
    await end;
    kill(program);
    // Nobody is left who could give them back but the next run, or the user.
    if (history.includes('broker') && history.includes('exec'))
      await poolwright(['sweep'], service.env, consumer.directory);
    await expect.poll(service.running, { timeout: 90_000 }).toEqual([]);
    await expect.poll(() => leftProcesses(consumer.directory), { timeout: 30_000 }).toEqual([]);
  });
}
