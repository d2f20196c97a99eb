import { expect } from '@playwright/test';
import { OptionsError } from '../../../../src/errors.ts';
import { planOf } from '../../../support/unit/broker/broker-parts.ts';
import { test } from '../../../support/unit/broker/socket-broker.ts';
import { failureOf } from '../../../support/unit/http-service.ts';

/** Projects over a real socket: those of the run, and those that a worker registers. */

const lease = (project: string) => ({ project, parallelIndex: 0, needMs: 1_000 });
const own = { id: 'own', name: 'of a file', plan: planOf({ session: { note: 'own' } }) };

test('a worker that registers a project gets a browser for it, with the name of the project in the note', async ({
  broker,
}) => {
  const { service, recorder, connect, until } = broker;
  const line = await connect(own);
  const { sessionId } = await until(line.lease(lease('own')));
  expect(service.sessions.get(sessionId)?.note).toMatch(/^own poolwright .* project=of_a_file /);
  expect(recorder.sessions).toMatchObject([{ project: 'of a file' }]);
});

test("another worker's project and a project outside the config are unknown: a typed error, recorded once", async ({
  broker,
}) => {
  const { service, recorder, connect, until } = broker;
  const [bringer, ...others] = [await connect(own), await connect(), await connect()];
  for (const other of others) {
    const failure = await until(failureOf(other.lease(lease('own')), OptionsError));
    expect(failure).toMatchObject({ code: 'OPTIONS_INVALID', field: 'projects' });
    expect(failure.message).toContain('no project "own" on hosted browsers: when it began there were "p0", "p1", "p2"');
  }
  expect(recorder.leaseFailures).toHaveLength(1);
  expect(service.asks).toBe(0);
  expect((await until(bringer.lease(lease('own')))).reused).toBe(false);
});

test("workers whose projects have equal requirements share browsers, whatever the projects' names", async ({
  broker,
}) => {
  const { connect, until } = broker;
  const [one, two] = [await connect(own), await connect({ ...own, id: 'other', name: 'other' })];
  const { sessionId } = await until(one.lease(lease('own')));
  await until(one.giveBack({ sessionId, condition: 'healthy', toBeReplaced: true }));
  expect(await until(two.lease(lease('other')))).toMatchObject({ sessionId, reused: true });
});
