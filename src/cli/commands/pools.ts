import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { errorOf, OptionsError, PoolwrightError } from '../../errors.ts';
import { findPoolOr } from '../../providers/hosted/pools/hosted-pool.ts';
import {
  type CreatePoolRequest,
  LIMITS,
  type Pool,
  type ServiceClient,
  type UpdatePoolRequest,
} from '../../service/index.ts';
import { integer, readSettings } from '../flags.ts';
import { printJson, printLine, printRows } from '../print.ts';
import { confirm, withProgress } from '../terminal.ts';
import { withClient } from '../with-client.ts';

const COLUMNS = ['id', 'name', 'status', 'size', 'ready', 'starting', 'leased', 'lastError'];
const ALL_COLUMNS = [...COLUMNS, 'leaseTimeoutSeconds', 'maxReadyAgeSeconds', 'browser'];
const POOL = 'ID or name of the pool';

interface Flags {
  json?: boolean;
}

/** `poolwright pools`: the pools that runs lease from. */
export function addPoolsCommand(program: Command): void {
  const pools = program
    .command('pools')
    .description("List and change the workspace's pools of warm browsers (POOLWRIGHT_BASE_URL, POOLWRIGHT_API_KEY)");
  pools
    .command('list')
    .description('List pools')
    .option('--json', 'print JSON')
    .action(async ({ json }: Flags) => printRows(await withClient((client) => client.listPools()), COLUMNS, json));
  pools
    .command('get')
    .description('Show one pool with its settings')
    .argument('<pool>', POOL)
    .option('--json', 'print JSON')
    .action((pool: string, { json }: Flags) => show(json, (client) => namedPool(client, pool)));
  addSettings(pools.command('create').description('Create a pool'), 'required')
    .argument('<name>', `its name, at most ${LIMITS.poolName.max} characters`)
    .option('--wait', 'wait until its browsers are ready')
    .option('--json', 'print JSON')
    .action(create);
  addSettings(pools.command('update').description('Change a pool'), 'optional')
    .argument('<pool>', POOL)
    .option('--name <name>', 'new name')
    .addOption(new Option('--pause', 'stop its warm browsers and refuse leases').conflicts('resume'))
    .option('--resume', 'start warm browsers again')
    .option('--wait', 'wait until its browsers are ready')
    .option('--json', 'print JSON')
    .action(update);
  pools
    .command('delete')
    .description('Delete pools and their warm browsers')
    .argument('<pools...>', 'IDs or names of pools')
    .option('--force', 'also stop leased browsers; without it, pools with leased browsers are kept')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(deletePools);
  pools
    .command('flush')
    .description("Replace a pool's warm browsers with new ones; leased ones stay")
    .argument('<pool>', POOL)
    .option('--json', 'print JSON')
    .action(flush);
}

function addSettings(command: Command, size: 'required' | 'optional'): Command {
  const sizeOption = new Option('--size <number>', 'number of browsers to keep warm').argParser(integer);
  const { leaseTimeoutSeconds, maxReadyAgeSeconds } = LIMITS;
  return command
    .addOption(size === 'required' ? sizeOption.makeOptionMandatory() : sizeOption)
    .addOption(
      new Option(
        '--lease-timeout <seconds>',
        `how long a lease may last, ${leaseTimeoutSeconds.min} to ${leaseTimeoutSeconds.max}`,
      ).argParser(integer),
    )
    .addOption(
      new Option(
        '--max-ready-age <seconds>',
        `how long a browser stays warm, ${maxReadyAgeSeconds.min} to ${maxReadyAgeSeconds.max}`,
      ).argParser(integer),
    )
    .option('--browser <file>', 'JSON file with the browser settings (country, proxyUrl, profile …), or - for stdin');
}

async function show(json: boolean | undefined, find: (client: ServiceClient) => Promise<Pool>): Promise<void> {
  const pool = await withClient(find);
  if (json) printJson([pool]);
  else printRows([{ ...pool, browser: JSON.stringify(pool.browser) }], ALL_COLUMNS, false);
}

async function create(name: string, flags: PoolFlags & Flags & { size: number }): Promise<void> {
  const settings = await settingsOf(flags);
  await show(flags.json, async (client) => {
    const pool = await client.createPool({ name, size: flags.size, ...settings });
    return flags.wait ? await waitForPool(client, pool) : pool;
  });
}

async function update(named: string, flags: PoolFlags & Flags): Promise<void> {
  const changes = await changesOf(flags);
  await show(flags.json, async (client) => {
    const { id } = await namedPool(client, named);
    const pool = await client.updatePool(id, changes);
    return flags.wait ? await waitForPool(client, pool) : pool;
  });
}

/** @throws ServiceError `SERVICE_NOT_FOUND` */
async function namedPool(client: ServiceClient, idOrName: string): Promise<Pool> {
  return await findPoolOr(client, idOrName, undefined, (problem, known) =>
    errorOf('SERVICE_NOT_FOUND', `${problem} ${known}`),
  );
}

async function deletePools(named: string[], { force, yes, json }: Flags & { force?: boolean; yes?: boolean }) {
  const leased = force ? ' and stop the browsers that are leased from it' : '';
  await confirm(`Delete ${named.map((name) => `pool ${name}`).join(', ')}${leased} for good?`, yes);
  await withClient(async (client) => {
    for (const name of named) {
      await client.deletePool((await namedPool(client, name)).id, { force: force === true });
      if (!json) printLine(`deleted pool ${name}`);
    }
  });
  if (json) printJson({ deleted: named });
}

async function flush(named: string, { json }: Flags): Promise<void> {
  const flushed = await withClient(async (client) => client.flushPool((await namedPool(client, named)).id));
  if (json) printJson(flushed);
  // How many were stopped is something that the service need not say.
  else printLine(`flushed pool ${named}${'stopped' in flushed ? `: ${flushed.stopped} stopped` : ''}`);
}

/** What `pools create` and `pools update` take. Bounds are checked by the client. */
interface PoolFlags {
  name?: string;
  size?: number;
  /** seconds */
  leaseTimeout?: number;
  /** seconds */
  maxReadyAge?: number;
  browser?: string;
  pause?: boolean;
  resume?: boolean;
  wait?: boolean;
}

/** @throws OptionsError for a file of browser settings that cannot be read, or is not a JSON object */
async function settingsOf(flags: PoolFlags): Promise<Omit<CreatePoolRequest, 'name' | 'size'>> {
  const { leaseTimeout, maxReadyAge, browser } = flags;
  return {
    ...(leaseTimeout !== undefined && { leaseTimeoutSeconds: leaseTimeout }),
    ...(maxReadyAge !== undefined && { maxReadyAgeSeconds: maxReadyAge }),
    ...(browser !== undefined && { browser: await readSettings('--browser', browser) }),
  };
}

/** @throws OptionsError as {@link settingsOf}, and when nothing is to be changed */
async function changesOf(flags: PoolFlags): Promise<UpdatePoolRequest> {
  const { name, size, pause, resume } = flags;
  const changes: UpdatePoolRequest = {
    ...(name !== undefined && { name }),
    ...(size !== undefined && { size }),
    ...((pause || resume) && { paused: pause === true }),
    ...(await settingsOf(flags)),
  };
  if (Object.keys(changes).length > 0) return changes;
  throw new OptionsError('pools update', 'Nothing to change: name a setting, such as --size 5 (see --help).');
}

/** A machine may take 3 minutes to start a browser (section 8 of the service document). */
const MOST_MS = 300_000;
const ASK_AGAIN_MS = 1_000;

/**
 * Waits until a pool's browsers are ready, or leased already. A paused one is waited for no longer.
 * @throws PoolwrightError `TIMEOUT` after 5 minutes, with the pool's status
 */
async function waitForPool(client: ServiceClient, { id, name }: Pool): Promise<Pool> {
  return await withProgress(`pool ${name}: warming`, async (say) => {
    const until = performance.now() + MOST_MS;
    for (;;) {
      const pool = await client.getPool(id);
      const there = (pool.ready ?? 0) + (pool.leased ?? 0);
      const isWarm = typeof pool.ready === 'number' ? there >= pool.size : pool.status === 'ready';
      if (isWarm || pool.status === 'paused') return pool;
      const state = `pool ${name} is ${pool.status}: ${there} of ${pool.size} browsers are ready`;
      const why = pool.lastError ? `, last error: ${pool.lastError}` : '';
      if (performance.now() > until) {
        throw new PoolwrightError('TIMEOUT', `After ${MOST_MS / 60_000} minutes ${state}${why}.`);
      }
      say(state);
      await delay(ASK_AGAIN_MS);
    }
  });
}
