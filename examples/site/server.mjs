#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { createApp } from './app.mjs';

/** `node examples/site/server.mjs [--port N]`: the tea house on loopback. Port 0 takes a free one. */

const DEFAULT_PORT = 4173;
const HOSTNAME = '127.0.0.1';

function fail(message) {
  console.error(`tea house: ${message}`);
  process.exit(1);
}

function readPort() {
  let port;
  try {
    ({ port } = parseArgs({ options: { port: { type: 'string', default: String(DEFAULT_PORT) } } }).values);
  } catch (error) {
    fail(`${error.message}; usage: node server.mjs [--port N]`);
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) fail(`--port must be 0 to 65535, got "${port}"`);
  return Number(port);
}

const port = readPort();
const server = serve({ fetch: createApp().fetch, hostname: HOSTNAME, port }, (address) => {
  console.log(`tea house: http://${HOSTNAME}:${address.port}`);
});

server.on('error', (error) => {
  if (error.code === 'EADDRINUSE')
    fail(`port ${port} is in use; stop what listens there or choose another with --port`);
  fail(error.message);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
}
