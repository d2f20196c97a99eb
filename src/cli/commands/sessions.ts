import { type Command, Option } from 'commander';
import { LIMITS, type Session, type SessionStatus, sessionStatuses } from '../../service/index.ts';
import { runningSessions } from '../../service/resources/list-sessions.ts';
import { printJson, printLine, printRows } from '../print.ts';
import { withClient } from '../with-client.ts';

const COLUMNS = ['sessionId', 'status', 'createdAt', 'stoppedAt', 'bandwidthBytes', 'note'];

/** `poolwright sessions`: what runs in the workspace, and the way to stop it. */
export function addSessionsCommand(program: Command): void {
  const sessions = program
    .command('sessions')
    .description("List and stop the workspace's sessions (POOLWRIGHT_BASE_URL, POOLWRIGHT_API_KEY)");
  sessions
    .command('list')
    .description('List sessions; without --status, only running ones')
    .addOption(
      new Option('--status <status>', 'only these (default: starting and active)').choices([...sessionStatuses]),
    )
    .option('--json', 'print JSON')
    .action(list);
  sessions
    .command('get')
    .description('Show one session')
    .argument('<session-id>')
    .option('--json', 'print JSON')
    .action(async (sessionId: string, { json }: { json?: boolean }) => {
      const session = await withClient((client) => client.getSession(sessionId));
      printRows([shown(session)], COLUMNS, json);
    });
  sessions
    .command('stop')
    .description('Stop sessions; ended ones are ignored')
    .argument('<session-ids...>')
    .option('--json', 'print JSON')
    .action(stop);
  sessions
    .command('note')
    .description("Set a running session's note (`sweep` recognises a run's sessions by the note that poolwright wrote)")
    .argument('<session-id>')
    .argument('<text>', `at most ${LIMITS.note.max} characters; empty removes the note`)
    .option('--json', 'print JSON')
    .action(async (sessionId: string, note: string, { json }: { json?: boolean }) => {
      const change = { note: note === '' ? null : note };
      const session = await withClient((client) => client.updateSession(sessionId, change));
      printRows([shown(session)], COLUMNS, json);
    });
}

async function list({ status, json }: { status?: SessionStatus; json?: boolean }): Promise<void> {
  const rows = await withClient(async (client) => {
    const found: Record<string, unknown>[] = [];
    const sessions = status ? client.iterateSessions({ status }) : runningSessions(client);
    for await (const session of sessions) found.push(shown(session));
    return found;
  });
  printRows(rows, COLUMNS, json);
}

async function stop(sessionIds: string[], { json }: { json?: boolean }): Promise<void> {
  await withClient(async (client) => {
    for (const sessionId of sessionIds) {
      await client.stopSession(sessionId);
      if (!json) printLine(`stopped ${sessionId}`);
    }
  });
  if (json) printJson({ stopped: sessionIds });
}

/** A session without its CDP address, which is a secret. */
function shown({ cdpUrl: _secret, ...session }: Session): Record<string, unknown> {
  return session;
}
