// CommonJS, so that CommonJS configs can spread it: `{ ...require('poolwright/jest/jest-preset'), … }`.
const { join } = require('node:path');

/** `preset: 'poolwright/jest'`. Keys in jest.config override those of this preset. */
module.exports = {
  globalSetup: join(__dirname, 'jest-global-setup.js'),
  globalTeardown: join(__dirname, 'jest-global-teardown.js'),
  testEnvironment: join(__dirname, 'jest-environment.js'),
  reporters: ['default', join(__dirname, 'jest-reporter.js')],
};
