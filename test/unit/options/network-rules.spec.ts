import { hostname } from 'node:os';
import { expect, test } from '@playwright/test';
import { exposedNetwork, parseExposure } from '../../../src/options/expose-network.ts';
import { NetworkRuleError, parseNetworkRules } from '../../../src/options/network-rules.ts';
import { parseHostedOptions } from '../../../src/options/schema/parse.ts';

const cases: [rules: string, listed: string[], notListed: string[]][] = [
  ['', [], ['http://localhost/', 'http://127.0.0.1/']],
  [
    '<loopback>',
    [
      'http://localhost/',
      'https://localhost:3000/a?b',
      'http://app.localhost/',
      'http://127.0.0.1:8080/',
      'http://[::1]:81/',
      'ws://localhost:5173/',
      'http://localhost.:3000/',
      'http://app.localhost./',
      'http://127.8.0.1/',
      'http://0.0.0.0:3000/',
      'http://[::ffff:127.0.0.1]/',
      `http://${hostname().toLowerCase()}:3000/`,
    ],
    [
      'http://localhost.example.com/',
      'http://127.0.0.1.example.com/',
      'http://localhost:6000/', // a port that browsers block
      'http://notlocalhost/',
      'http://10.0.0.1/',
      'http://example.com/?u=http://localhost/',
      'http://localhost@example.com/',
      'ftp://localhost/',
      'about:blank',
      'data:text/html,localhost',
      'nonsense',
    ],
  ],
  [
    '<loopback>:3000',
    ['http://localhost:3000/', 'http://[::1]:3000/'],
    ['http://localhost/', 'http://localhost:3001/', 'http://localhost:30000/'],
  ],
  ['localhost:80', ['http://localhost/', 'ws://localhost/'], ['https://localhost/']],
  ['localhost:443', ['https://localhost/', 'wss://localhost/'], ['http://localhost/']],
  [
    '*.internal',
    ['http://a.internal/', 'https://b.a.internal:8443/'],
    ['http://internal/', 'http://a.internal.example.com/', 'http://ainternal/'],
  ],
  ['.internal', ['http://a.internal/'], ['http://internal/']],
  [
    'stage-*.example.com',
    ['http://stage-1.example.com/'],
    ['http://stage.example.com/', 'http://stage-1xexample.com/'],
  ],
  ['Staging.Example.com', ['http://staging.example.com/'], ['http://example.com/']],
  ['bücher.example', ['http://bücher.example/', 'http://xn--bcher-kva.example/'], ['http://bucher.example/']],
  ['10.0.0.7', ['http://10.0.0.7/', 'http://10.0.0.7:99/'], ['http://10.0.0.70/', 'http://110.0.0.7/']],
  ['1*', ['http://1password.com/'], ['http://10.0.0.7/', 'http://[1::1]/']],
  ['[fd00::7]:8080', ['http://[fd00::7]:8080/'], ['http://[fd00::7]/', 'http://[fd00::8]:8080/']],
  ['*', ['http://example.com/', 'http://10.0.0.1:5/', 'wss://[::1]/'], ['file:///etc/passwd', 'chrome://version']],
  ['*:8080', ['http://example.com:8080/', 'http://10.0.0.1:8080/'], ['http://example.com/']],
  [' localhost , *.internal:81 ', ['http://localhost/', 'http://a.internal:81/'], ['http://a.internal/', 'http://c/']],
];

for (const [rules, listed, notListed] of cases) {
  test(`rules "${rules}"`, () => {
    const { matches, urlPatterns } = parseNetworkRules(rules);
    expect(listed.filter((url) => !matches(url))).toEqual([]);
    expect(notListed.filter((url) => matches(url))).toEqual([]);
    // What Chromium is told to stop holds all that is listed.
    const globs = urlPatterns.map((glob) => new RegExp(`^${glob.split('*').map(escaped).join('.*')}$`));
    const missed = listed.map((url) => new URL(url).href).filter((url) => !globs.some((glob) => glob.test(url)));
    expect(missed).toEqual([]);
  });
}

test('matches a host with an umlaut also when it is asked often', () => {
  // Node 20 optimizes its own functions after some thousand calls, and one of them is then wrong.
  const { matches } = parseNetworkRules('bücher.example');
  const addresses = ['http://bücher.example/', 'http://other.example/'];
  const seen = new Set(Array.from({ length: 50_000 }, (_, at) => `${at % 2} ${matches(addresses[at % 2] ?? '')}`));
  expect([...seen]).toEqual(['0 true', '1 false']);
});

const malformed: [rules: string, message: string][] = [
  ['localhost,', 'the rule "" is empty'],
  ['a,,b', 'the rule "" is empty'],
  ['http://localhost', 'the rule "http://localhost" is not a valid host'],
  ['localhost/path', 'the rule with a path, a query or an "@" is not a valid host'],
  ['user@localhost', 'the rule with a path, a query or an "@" is not a valid host'],
  ['a b', 'the rule "a b" is not a valid host'],
  ['<local>', 'the rule "<local>" is not a valid host'],
  ['[::1', 'the rule "[::1" is not a valid host'],
  ['::1', 'write "[::1]"'],
  ['localhost:', 'the rule "localhost:" has a wrong port'],
  ['localhost:0', 'the rule "localhost:0" has a wrong port'],
  ['localhost:65536', 'the rule "localhost:65536" has a wrong port'],
  ['localhost:web', 'the rule "localhost:web" is not a valid host'],
  [':3000', 'the rule ":3000" is not a valid host'],
  ['**', 'the rule "**" matches everything: write "*"'],
  ['*.*', 'the rule "*.*" matches everything: write "*"'],
  ['999.1.1.1', 'the rule "999.1.1.1" is not a valid host'],
];

for (const [rules, message] of malformed) {
  test(`names the malformed rules "${rules}"`, () => {
    expect(() => parseNetworkRules(rules)).toThrow(NetworkRuleError);
    expect(() => parseNetworkRules(rules)).toThrow(message);
    expect(() => parseHostedOptions({ exposeNetwork: rules }, 'here')).toThrow(message);
    expect(() => parseHostedOptions({ exposeNetwork: rules }, 'here')).toThrow('`exposeNetwork`');
  });
}

test('auto exposes loopback when the suite uses it, and always what the test visits', () => {
  for (const option of [undefined, 'auto']) {
    expect(exposedNetwork(option, { baseURL: 'http://localhost:3000' })).toBe('auto,<loopback>');
    expect(exposedNetwork(option, { baseURL: 'http://example.com' })).toBe('auto');
    expect(exposedNetwork(option, {})).toBe('auto');
    expect(exposedNetwork(option, { webServer: null })).toBe('auto');
    expect(exposedNetwork(option, { webServer: { port: 3000 } })).toBe('auto,<loopback>');
    expect(exposedNetwork(option, { webServer: { url: 'https://127.0.0.1:81/health' } })).toBe('auto,<loopback>');
    expect(exposedNetwork(option, { baseURL: 'http://a.example', webServer: [{ url: 'http://b.example' }] })).toBe(
      'auto',
    );
    expect(exposedNetwork(option, { webServer: [{ url: 'http://b.example' }, {}] })).toBe('auto,<loopback>');
    expect(exposedNetwork(option, { webServer: [] })).toBe('auto');
    expect(exposedNetwork(option, { webServer: [{ url: 'http://b.example' }, { port: 80 }] })).toBe('auto,<loopback>');
  }
  for (const option of ['', 'none', '*.internal']) {
    expect(exposedNetwork(option, { baseURL: 'http://localhost:3000' })).toBe(option);
  }
});

test('parses a value as hosts, what the test visits, or nothing', () => {
  for (const none of ['', ' ', 'none', ' none ']) expect(parseExposure(none)).toEqual({ hosts: null, auto: false });
  expect(parseExposure('auto')).toEqual({ hosts: null, auto: true });
  const both = parseExposure('*.internal, auto');
  expect([both.auto, both.hosts?.matches('http://a.internal/'), both.hosts?.matches('http://auto/')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(parseExposure('<loopback>').auto).toBe(false);
  expect(() => parseHostedOptions({ exposeNetwork: 'none,a.internal' }, 'here')).toThrow('cannot be combined');
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
