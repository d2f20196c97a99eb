import type { RunState } from '../../broker/rpc/messages/protocol.ts';

/** The state of a run in one line, the most important part first: a narrow terminal cuts the end off. */
export function liveText(state: RunState): string {
  const { inUse, waiting, ending, fromPool, created, longest } = state;
  const now = [`${inUse} leased`];
  if (waiting > 0) now.push(`${waiting} waiting`);
  if (ending > 0) now.push(`${ending} ending`);
  const parts = [now.join(', ')];
  if (longest) parts.push(`${Math.round(longest.waitedMs / 1000)} s: ${longest.waitsFor}`);
  const had = [fromPool > 0 ? `${fromPool} from the pool` : '', created > 0 ? `${created} created` : ''];
  parts.push(had.filter((text) => text !== '').join(', '));
  return printable(`poolwright: ${parts.filter((text) => text !== '').join('; ')}`);
}

/** Replaces characters that may be wider than one column, which would break the line. */
function printable(text: string): string {
  return text.replace(/[^ -~]/g, '?');
}
