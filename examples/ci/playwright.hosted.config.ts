import { withHostedBrowsers } from 'poolwright';
import config from './playwright.config.js';

// A pool for each shard, deleted after it.
export default withHostedBrowsers(config, { pool: { create: {} } });
