import { readdirSync, readFileSync } from 'node:fs';
import { Detector, getModeHandler, MemoryStore } from '@jscpd/core';
import { Tokenizer } from '@jscpd/tokenizer';

/**
 * `node scripts/duplicates.mjs`: text that stands in the source twice, comments and imports aside; exits with 1 when
 * there is some.
 */

/** From so many tokens on, the spaces between them included, and so many lines, it is a duplicate. */
const MIN_TOKENS = 50;
const MIN_LINES = 5;
const IMPORT = /^import .*?;$/gms;

const root = new URL('../src/', import.meta.url);
const detector = new Detector(new Tokenizer(), new MemoryStore(), [], {
  minTokens: MIN_TOKENS,
  minLines: MIN_LINES,
  mode: getModeHandler('weak'),
});

let found = 0;
for (const file of readdirSync(root, { recursive: true }).sort()) {
  if (!file.endsWith('.ts')) continue;
  for (const { duplicationA: here, duplicationB: there } of await detector.detect(
    file,
    readFileSync(new URL(file, root), 'utf8').replace(IMPORT, (text) => text.replace(/[^\n]/g, ' ')),
    'typescript',
  )) {
    found += 1;
    const place = ({ sourceId, start, end }) => `src/${sourceId}:${start.line}-${end.line}`;
    console.log(`${place(here)} is also ${place(there)}`);
  }
}
console.log(`${found} duplicates`);
process.exit(found > 0 ? 1 : 0);
