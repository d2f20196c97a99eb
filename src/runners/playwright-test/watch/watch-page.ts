import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { connectToBroker } from '../../../broker/rpc/client.ts';
import type { StartedBroker } from '../../../broker/start/started-broker.ts';
import { orderCallsOver } from '../../../broker/watch/orders.ts';
import { distFile } from '../../../common/dist-file.ts';
import { within } from '../../../common/pause.ts';
import { pageOpener } from '../../../common/platform/page-opener.ts';
import { childEnvironment } from '../../../common/platform/processes.ts';
import { notify } from '../../../common/text/notify.ts';
import { inContinuousIntegration } from '../../../options/environment.ts';

/** A watch page that is open already finds the run within this time, in ms. */
const FOUND_WITHIN_MS = 2_000;

/**
 * Hosted browsers have no window: prints one line, and opens the page of `poolwright watch` on a machine with a screen,
 * unless the run is watched already. The run does not wait for it.
 */
export function showBrowsers(broker: StartedBroker): void {
  const canOpen = !inContinuousIntegration(process.env) && pageOpener(process.env, process.platform) !== null;
  const how = canOpen
    ? 'the page of `npx poolwright watch` shows them live'
    : 'see them live with `npx poolwright watch`';
  notify(
    `hosted browsers have no window (--headed): ${how}. For Playwright's own browsers, set POOLWRIGHT_SERVICE=local`,
  );
  // A run that fails or ends meanwhile needs no page.
  if (canOpen) openUnlessWatched(broker).catch(() => undefined);
}

async function openUnlessWatched(broker: StartedBroker): Promise<void> {
  await broker.ready;
  const connection = await connectToBroker(broker.address, 'control');
  connection.unref();
  try {
    const { watchOrders } = orderCallsOver(connection.ask);
    const { number, isWatched } = await watchOrders({ slot: null, after: 0 });
    if (isWatched) return;
    const orders = await within(watchOrders({ slot: null, after: number }), FOUND_WITHIN_MS, {
      isWatched: false,
    });
    if (!orders.isWatched) startWatching();
  } finally {
    connection.close();
  }
}

/** It outlives the run, as its reader looks at failures, and ends when the page is closed. */
function startWatching(): void {
  const { NODE_OPTIONS: _ours, ...env } = childEnvironment();
  const child = spawn(process.execPath, [distFile('cli.js'), 'watch', '--until-closed'], {
    // Outside the terminal's process group and the project's directory.
    detached: true,
    cwd: tmpdir(),
    stdio: 'ignore',
    windowsHide: true,
    env,
  });
  child.on('error', () => undefined);
  child.unref();
}
