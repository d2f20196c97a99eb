import { join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { Application, Logger, LogLevel } from 'typedoc';
import { ROOT } from '../../support/docs/pages.ts';
import { entrySources } from '../../support/docs/type-check.ts';

/** What `npm run docs` makes a reference of; nothing is written here. */

class Complaints extends Logger {
  readonly said: string[] = [];

  override log(message: string, level: LogLevel): void {
    if (level >= LogLevel.Warn) this.said.push(message);
  }
}

test('every export of every entry point has a docstring with valid links', async () => {
  // Errors of types are `node scripts/types.mjs`'s to find.
  const app = await Application.bootstrap({ options: join(ROOT, 'typedoc.json'), skipErrorChecking: true });
  const complaints = new Complaints();
  app.logger = complaints;
  const entries = app.options.getValue('entryPoints').map((path) => resolve(ROOT, path));
  expect(entries.sort()).toEqual(Object.values(entrySources()).sort());
  const project = await app.convert();
  if (project) app.validate(project);
  expect(complaints.said).toEqual([]);
  expect(project?.children?.length).toBe(entries.length);
});
