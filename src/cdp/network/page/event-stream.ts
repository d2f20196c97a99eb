/** What the reader of an event stream does with it. */
interface StreamHandlers {
  /** The stream has set the ID that a reconnect sends, with an event or without one. */
  onId(id: string): void;
  /** @param ms the wait before a reconnect */
  onRetry(ms: number): void;
  onEvent(type: string, data: string): void;
}

/**
 * Returns a function that takes the next piece of an event stream (HTML, "Interpreting an event stream"). Libraries
 * that report an ID without an event need a later Node than we support.
 */
export function eventStreamReader({ onId, onRetry, onEvent }: StreamHandlers): (text: string) => void {
  let rest = '';
  let endsInCr = false;
  let data: string[] = [];
  let type = '';
  let id: string | null = null;

  const onLine = (line: string) => {
    if (line === '') {
      if (id !== null) onId(id);
      if (data.length > 0) onEvent(type || 'message', data.join('\n'));
      [data, type] = [[], ''];
      return;
    }
    const [, field = line, value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'event') type = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry(Number(value));
  };

  return (text) => {
    if (text === '') return;
    // The end of a line may arrive in two pieces.
    const lines = (rest + (endsInCr && text.startsWith('\n') ? text.slice(1) : text)).split(/\r\n|\r|\n/);
    endsInCr = text.endsWith('\r');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  };
}
