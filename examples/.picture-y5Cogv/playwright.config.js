
const { withHostedBrowsers } = require('poolwright');
module.exports = withHostedBrowsers({
  fullyParallel: true,
  timeout: 300_000,
  reporter: 'null',
  use: { baseURL: process.env.SITE, viewport: { width: 1024, height: 640 } },
  projects: [{ name: 'chromium' }],
});