import { expect, test } from '@playwright/test';
import { tableLines } from '../../../src/cli/print.ts';

test('aligns columns by the width of their cells on a terminal, with wide and combined characters', () => {
  const rows = [
    { id: 'ses_1', note: '日本語 テスト', n: 3 },
    { id: 'ses_22', note: '👩‍💻 e\u0301', n: null },
    { id: 'a', note: 'two\r\n lines', other: 'not asked for' },
  ];
  expect(tableLines(rows, ['id', 'note', 'n'])).toEqual([
    ' id       note            n',
    ' ses_1    日本語 テスト   3',
    ' ses_22   👩‍💻 e\u0301',
    ' a        two lines',
  ]);
  expect(tableLines([], ['id', 'note'])).toEqual([' id   note']);
});
