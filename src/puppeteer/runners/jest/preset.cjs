// In CommonJS, so that configs in CommonJS can spread it: `{ ...require('poolwright/jest/jest-preset'), … }`.
const { join } = require('node:path');

/** `preset: 'poolwright/jest'`. A key that jest.config has too takes the place of the one here. */
module.exports = {
  globalSetup: join(__dirname, 'jest-global-setup.js'),
  globalTeardown: join(__dirname, 'jest-global-teardown.js'),
  testEnvironment: join(__dirname, 'jest-environment.js'),
  reporters: ['default', join(__dirname, 'jest-reporter.js')],
};
