module.exports = {
  preset: 'poolwright/jest',
  testMatch: ['**/*.test.cjs'],
  testTimeout: 30_000,
  // Plain JavaScript: there is nothing for Babel to do.
  transform: {},
};
