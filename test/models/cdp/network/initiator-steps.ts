import fc from 'fast-check';

/** The steps of histories in which every request has a known cause, and the scripts that pages run for them. */

/** `own` and `second` are servers of the suite on two ports; the test visits the first. */
const HOSTS = ['own', 'own', 'second', 'foreign'] as const;
const WAYS = ['location', 'link', 'get', 'post', 'refresh', 'open'] as const;
const TARGETS = ['_self', '_parent', '_top', 'opener', 'child', '_blank', 'named', 'noopener', 'download'] as const;
const LEAVES = ['stays', 'stays', 'blanks', 'closes', 'blanks the opener', 'is removed'] as const;
const FRAMES = ['src', 'srcdoc', 'sandboxed', 'data', 'blob', 'blank', 'sandboxed src'] as const;

const any = fc.nat(999);
const acts = {
  actor: any,
  hidden: fc.boolean(),
  to: fc.constantFrom('own', 'own', 'own', 'foreign', 'through foreign', 'through own'),
  port: fc.constantFrom('own', 'second'),
  leave: fc.constantFrom(...LEAVES),
} as const;
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('lead' as const),
      ...acts,
      way: fc.constantFrom(...WAYS),
      target: fc.constantFrom(...TARGETS),
      written: fc.constantFrom('no', 'no', 'popup', 'frame'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fetch' as const),
      ...acts,
      way: fc.constantFrom('fetch', 'image', 'beacon', 'keepalive', 'worker'),
      when: fc.constantFrom('now', 'now', 'as it is left'),
      written: fc.constantFrom('no', 'frame'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('frame' as const),
      actor: any,
      kind: fc.constantFrom(...FRAMES),
      host: fc.constantFrom(...HOSTS),
      silent: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('popup' as const),
      actor: any,
      host: fc.constantFrom(...HOSTS),
      silent: fc.boolean(),
      noopener: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('test' as const),
      actor: any,
      what: fc.constantFrom('goto', 'frame.goto', 'new page', 'reload', 'reload', 'goBack', 'goForward', 'close'),
      host: fc.constantFrom(...HOSTS),
      silent: fc.boolean(),
    }),
  },
);
export type InitiatorStep = typeof step extends fc.Arbitrary<infer One> ? One : never;

const STARTS = ['own', 'a foreign frame', 'a foreign popup', 'in a foreign page', 'opened by a foreign page'] as const;

/** The actions of pages and a test; a third of the histories has no foreign page. */
export const initiatorHistories = fc.record({
  start: fc.constantFrom(...STARTS),
  hasForeign: fc.constantFrom(true, true, false),
  /** The referrer policy of foreign pages hides the whole referrer. */
  isSilent: fc.constantFrom(true, true, false),
  steps: fc.array(step, { minLength: 3, maxLength: 14, size: 'max' }),
});
/** The start of a history. */
export type Ground = Omit<typeof initiatorHistories extends fc.Arbitrary<infer One> ? One : never, 'steps'>;

type Lead = Extract<InitiatorStep, { do: 'lead' }>;
type Fetching = Extract<InitiatorStep, { do: 'fetch' }>;

/** Returns a script that navigates a frame; a document written by its author can run it. */
export function leading({ way, target, hidden }: Lead, url: string): string {
  const [to, silent] = [JSON.stringify(url), hidden ? 'noreferrer' : ''];
  const name = { opener: '_self', noopener: '_blank', download: '_self' }[target as string] ?? target;
  const windows = `({ _self: self, _parent: parent, _top: top, opener: opener ?? self, child: frames[0] ?? self })`;
  if (way === 'location') return `(${windows}[${JSON.stringify(target)}] ?? self).location = ${to};`;
  if (way === 'open') return `open(${to}, '${name}', '${target === 'noopener' ? 'noopener' : silent}');`;
  if (way === 'refresh') {
    return `document.head.insertAdjacentHTML('beforeend', '<meta http-equiv=refresh content="0;url=' + ${to} + '">');`;
  }
  if (way === 'link') {
    const rel = [silent, target === 'noopener' ? 'noopener' : '', target === 'named' ? 'opener' : ''].join(' ').trim();
    const download = target === 'download' ? `a.download = 'x';` : '';
    return `const a = document.createElement('a'); a.href = ${to}; a.target = '${name}'; a.rel = '${rel}'; ${download} document.body.append(a); a.click();`;
  }
  return `const form = document.createElement('form'); form.action = ${to}; form.method = '${way}'; form.target = '${name}'; form.rel = '${silent}';
    for (const [key, value] of new URL(${to}).searchParams) { const input = document.createElement('input'); input.name = key; input.value = value; form.append(input); }
    document.body.append(form); form.submit();`;
}

/** Returns a script that sends a request for its document. */
export function fetching(step: Fetching, url: string): string {
  const script = fetchingNow(step, url);
  return step.when === 'now' ? script : `addEventListener('pagehide', () => { ${script} }, { once: true });`;
}

function fetchingNow({ way, hidden }: Fetching, url: string): string {
  const [to, policy] = [JSON.stringify(url), hidden ? `'no-referrer'` : `''`];
  if (way === 'image') return `const image = new Image(); image.referrerPolicy = ${policy}; image.src = ${to};`;
  if (way === 'beacon') return `navigator.sendBeacon(${to}, 'x');`;
  const keepalive = way === 'keepalive' ? `keepalive: true, method: 'POST',` : '';
  const fetched = `fetch(${to}, { ${keepalive} mode: 'no-cors', referrerPolicy: ${policy} }).catch(() => 0);`;
  if (way !== 'worker') return fetched;
  return `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(fetched)}])));`;
}

/** Runs a script in an empty popup or frame, from a document that is written into it. */
export function writing(where: 'popup' | 'frame', hidden: boolean, script: string): string {
  const meta = hidden ? '<meta name=referrer content=no-referrer>' : '';
  const html = JSON.stringify(`${meta}<body><script>${script}</script>`).replaceAll('</script', '<\\/script');
  const made =
    where === 'popup'
      ? `open('about:blank')`
      : `document.body.appendChild(document.createElement('iframe')).contentWindow`;
  return `const made = ${made}; if (made) { made.document.write(${html}); made.document.close(); }`;
}
