import { expect, test } from '@playwright/test';
import { contentTypeOf } from '../../../../src/cdp/network/files/content-types.ts';

test('judges a file by its content when its extension is the name of a property of every object', () => {
  for (const name of ['page.constructor', 'page.__proto__', 'page.valueOf']) {
    expect(contentTypeOf(name, Buffer.from('<!doctype html>'))).toBe('text/html');
  }
  expect(contentTypeOf('page.HTML', Buffer.from('text'))).toBe('text/html');
});
