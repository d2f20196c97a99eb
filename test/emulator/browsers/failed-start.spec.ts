import { BrowserLauncher } from '../../../src/emulator/browser-launcher.ts';
import { ProfileDirectories } from '../../../src/emulator/disk/profile-directories.ts';
import { browserSpec } from '../../../src/emulator/state/browser-request.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { listeningPorts } from '../../support/processes.ts';
import { requires } from '../../support/requires.ts';

test('a failed start leaves no proxy listening', async () => {
  requires('Linux');
  const profiles = await ProfileDirectories.create();
  await profiles.removeAll(); // no profile directory can be created any more
  const launcher = new BrowserLauncher({
    chromiums: { shell: null, full: { kind: 'full', path: '/bin/false', source: 'option' } },
    extraArguments: [],
    allowLoopback: false,
    profiles,
    log: () => undefined,
  });
  const before = await listeningPorts(process.pid);
  await expect(launcher.launch(browserSpec({}), AbortSignal.timeout(10_000))).rejects.toThrow('ENOENT');
  expect(await listeningPorts(process.pid)).toEqual(before);
  await launcher.stop();
});
