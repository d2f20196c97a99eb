/** What a stub page shows: a text, of which it understands the title. */
export class StubDocument {
  readonly url: string;
  title = '';
  #html = '';

  constructor(url: string, html: string) {
    this.url = url;
    this.write(html);
  }

  get html(): string {
    return this.#html;
  }

  open(): void {
    this.#html = '';
    this.title = '';
  }

  write(html: string): void {
    this.#html += html;
    this.title = /<title[^>]*>([^<]*)<\/title>/i.exec(this.#html)?.[1]?.trim() ?? this.title;
  }
}

/** The text of a `data:` URL; `''` for `about:blank`; undefined for URLs that need a network. */
export function textOf(url: string): string | undefined {
  if (/^about:/i.test(url)) return '';
  const [, encoding = '', data = ''] = /^data:[^,]*?(;base64)?,(.*)$/is.exec(url) ?? [];
  if (!/^data:/i.test(url)) return undefined;
  const text = decodeURIComponent(data.replace(/#.*$/s, ''));
  return encoding ? Buffer.from(text, 'base64').toString() : text;
}
