import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from '@playwright/test';
import { test } from '../../../support/unit/broker/socket-broker.ts';

/** What the broker's server makes of who does not speak as its own clients do. */

test.describe('a connection that is none of ours', () => {
  const hello = (more: object) => ({
    id: 1,
    method: 'hello',
    params: { token: 't', version: 1, role: 'worker', ...more },
  });

  test('with another token is closed', async ({ broker }) => {
    const socket = connect(broker.address);
    socket.write(`${JSON.stringify(hello({ token: 'guessed' }))}\n`);
    await once(socket.resume(), 'close');
  });

  test('with a line that is no request is closed', async ({ broker }) => {
    const socket = connect(broker.address);
    socket.write('{"method":"hello"}\n');
    await once(socket.resume(), 'close');
  });

  test('of another version is told so, and so is who asks for what there is not, or is not for it', async ({
    broker,
  }) => {
    const socket = connect(broker.address).setEncoding('utf8');
    const said = async (message: object): Promise<string> => {
      socket.write(`${JSON.stringify(message)}\n`);
      const [text] = await once(socket, 'data');
      return text;
    };
    expect(await said(hello({ version: 99 }))).toContain('different versions of poolwright');
    expect(await said({ id: 2, method: 'lease', params: {} })).toContain('is for a worker only');
    expect(await said(hello({}))).toBe('{"id":1,"result":{"slot":0}}\n');
    expect(await said({ id: 3, method: 'toString', params: {} })).toContain('is no request');
    expect(await said({ id: 4, method: 'finish', params: {} })).toContain('is for a control only');
    expect(await said({ id: 5, method: 'lease', params: { project: 7 } })).toContain('"error"');
    socket.destroy();
  });
});
