const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { resolve } = require('node:path');

/** Starts the tea house on this machine; hosted browsers reach it through the test's process. */
exports.openSite = async () => {
  const server = spawn(process.execPath, [resolve(__dirname, '../../site/server.mjs'), '--port', '0']);
  const [line] = await once(server.stdout, 'data');
  const url = /http:\S+/.exec(String(line))[0];
  const close = async () => {
    server.kill();
    await once(server, 'exit');
  };
  return { url, close };
};
