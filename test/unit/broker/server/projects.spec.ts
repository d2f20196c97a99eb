import { expect, test } from '@playwright/test';
import { Projects } from '../../../../src/broker/server/lease-service.ts';
import { OptionsError } from '../../../../src/errors.ts';
import { planOf } from '../../../support/unit/broker/broker-parts.ts';

/**
 * Which connection knows which plan: the run's projects are shared, a worker's own project is for its connection only.
 */

const ofRun = { id: 'us', name: 'us', plan: planOf({ session: { country: 'US' } }) };
const own = { id: 'us', name: 'us', plan: planOf({ session: { country: 'DE' } }) };

test("a worker's own project is not visible to other workers", () => {
  const projects = new Projects([ofRun]);
  const [worker, other] = [{}, {}];
  projects.register(worker, own);
  expect(projects.of(worker, 'us')).toBe(own);
  expect(projects.of(other, 'us')).toBe(ofRun);
  expect(projects.ofRun('us')).toBe(ofRun);
});

test('an unknown project is an error that names the known ones', () => {
  const projects = new Projects([ofRun, { ...ofRun, id: '', name: '' }]);
  const worker = {};
  projects.register(worker, own);
  for (const ask of [() => projects.of(worker, 'fr'), () => projects.of({}, 'fr')]) {
    expect(ask).toThrow(OptionsError);
    expect(ask).toThrow(/no project "fr" on hosted browsers: when it began there were "us", the default project\./);
  }
  expect(() => new Projects([ofRun]).of({}, '')).toThrow(/no project without a name .* there was "us"\./);
  expect(projects.ofRun('fr')).toBe(null);
});
