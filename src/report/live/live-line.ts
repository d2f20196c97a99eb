import { type BrokerConnection, connectToBroker } from '../../broker/rpc/client.ts';
import type { RunState } from '../../broker/rpc/messages/protocol.ts';
import { type BrokerAddress, sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import { debugEnabled } from '../../common/debug.ts';
import { notify, print } from '../../common/text/notify.ts';
import { inContinuousIntegration } from '../../options/environment.ts';
import { StatusLine } from './status-line.ts';

/** How often the broker is asked for its state, in ms. */
const REFRESH_MS = 500;

/**
 * Shows the state of the run's browsers on the terminal during the run. Messages of the broker are printed at the end,
 * because they would disturb lines that Playwright still rewrites.
 */
export class LiveLine {
  readonly #status: StatusLine;
  #connection: BrokerConnection | null = null;
  #timer: NodeJS.Timeout | null = null;
  #messages: string[] = [];
  #stopped = false;
  readonly #address: BrokerAddress;

  private constructor(address: BrokerAddress) {
    this.#address = address;
    this.#status = new StatusLine(process.stderr, [process.stdout]);
    // Removes the line even if the runner exits without ending the run.
    process.once('exit', this.stop);
    void this.#refresh();
  }

  /** Null without a broker, or if the line cannot be shown on a terminal. */
  static start(): LiveLine | null {
    const address = sharedBrokerOf(process.env);
    // Output through a pipe (`| tee`) may appear on the same terminal, where the line cannot avoid it.
    const isTerminal = process.stdout.isTTY && process.stderr.isTTY && process.env.TERM !== 'dumb';
    // The broker's log on the terminal would mix with the line.
    const showsLog = debugEnabled('poolwright:broker', process.env.DEBUG);
    if (!address || !isTerminal || showsLog || inContinuousIntegration(process.env)) return null;
    return new LiveLine(address);
  }

  /** Removes the line, and prints the messages that were held back. */
  readonly stop = (): void => {
    if (this.#stopped) return;
    this.#stopped = true;
    process.off('exit', this.stop);
    if (this.#timer) clearTimeout(this.#timer);
    this.#connection?.close();
    this.#status.stop();
    if (this.#messages.length > 0) void print('');
    for (const text of this.#messages) notify(text);
  };

  async #refresh(): Promise<void> {
    try {
      this.#connection ??= await connectToBroker(this.#address, 'control');
      const state = await this.#connection.state();
      this.#messages = this.#messages.concat(state.said);
      if (!this.#stopped) this.#status.show(liveText(state));
    } catch {
      // The broker has ended, or crashed and will be replaced at the same address.
      this.#connection = null;
      if (!this.#stopped) this.#status.show('');
    }
    if (this.#stopped) this.#connection?.close();
    else this.#timer = setTimeout(() => void this.#refresh(), REFRESH_MS).unref();
  }
}

/** The state of a run in one line, the most important part first: a narrow terminal cuts the end off. */
function liveText(state: RunState): string {
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
