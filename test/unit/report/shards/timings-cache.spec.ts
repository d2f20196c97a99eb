import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import type { FullConfig } from '@playwright/test/reporter';
import { cacheFile } from '../../../../src/report/shards/find-timings.ts';

const config = { configFile: join(process.cwd(), 'playwright.config.ts') } as FullConfig;

test('timings are kept on this machine, but not in CI, whose machines would divide the tests differently', () => {
  for (const env of [{}, { CI: 'false' }]) expect(cacheFile(config, env)).toMatch(/timings-[0-9a-f]{12}\.json$/);
  for (const name of ['CI', 'TF_BUILD', 'JENKINS_URL', 'TEAMCITY_VERSION'])
    expect(cacheFile(config, { [name]: '1' }), name).toBeNull();
});
