import { type BrokerConnection, connectToBroker } from '../../broker/rpc/client.ts';
import { type BrokerAddress, sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import { debugEnabled } from '../../common/debug.ts';
import { notify } from '../../common/text/notify.ts';
import { inContinuousIntegration } from '../../options/environment.ts';
import { liveText } from './live-text.ts';
import { StatusLine } from './status-line.ts';

/** How often the broker is asked, in ms. */
const ASK_MS = 500;

/**
 * Shows on the terminal what becomes of the run's browsers, while it goes on. What the broker has to say meanwhile would
 * get between the lines that Playwright is still rewriting, so it is printed at the end.
 */
export class LiveLine {
  readonly #status: StatusLine;
  #connection: BrokerConnection | null = null;
  #timer: NodeJS.Timeout | null = null;
  #said: string[] = [];
  #stopped = false;

  readonly #address: BrokerAddress;

  private constructor(address: BrokerAddress) {
    this.#address = address;

    this.#status = new StatusLine(process.stderr, [process.stdout]);
    // A runner that ends without a word of its end leaves no line behind.
    process.once('exit', this.stop);
    void this.#ask();
  }

  /** Null without a broker, and where no terminal shows it. */
  static start(): LiveLine | null {
    const address = sharedBrokerOf(process.env);
    // What goes through a pipe (`| tee`) may come out on the same terminal, unseen by who draws there.
    const isTerminal = process.stdout.isTTY && process.stderr.isTTY && process.env.TERM !== 'dumb';
    // With the broker's log on the terminal, the line would get between its lines.
    const showsLog = debugEnabled('poolwright:broker', process.env.DEBUG);
    if (!address || !isTerminal || showsLog || inContinuousIntegration(process.env)) return null;
    return new LiveLine(address);
  }

  /** Removes the line, and prints what was held back meanwhile. */
  readonly stop = (): void => {
    if (this.#stopped) return;
    this.#stopped = true;
    process.off('exit', this.stop);
    if (this.#timer) clearTimeout(this.#timer);
    this.#connection?.close();
    this.#status.stop();
    if (this.#said.length > 0) process.stderr.write('\n');
    for (const text of this.#said) notify(text);
  };

  async #ask(): Promise<void> {
    try {
      this.#connection ??= await connectToBroker(this.#address, 'control');
      const state = await this.#connection.watch();
      this.#said = this.#said.concat(state.said);
      if (!this.#stopped) this.#status.show(liveText(state));
    } catch {
      // It has ended, or died and will be replaced at the same address.
      this.#connection = null;
      if (!this.#stopped) this.#status.show('');
    }
    if (this.#stopped) this.#connection?.close();
    else this.#timer = setTimeout(() => void this.#ask(), ASK_MS).unref();
  }
}
