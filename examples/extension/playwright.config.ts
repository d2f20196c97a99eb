import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

const { EXTENSION_ID } = process.env;
if (EXTENSION_ID === undefined) throw new Error('Run `npm test`: it uploads the extension first.');

export default defineConfig(
  // The extension lives in the browser's own context, which is what tests get where `extensionIds` are named.
  withHostedBrowsers({ testDir: './tests' }, { session: { extensionIds: [EXTENSION_ID] } }),
);
