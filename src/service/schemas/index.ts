/** The requests and responses of the service, shared by the client, the options and the emulator. */
export * from './extension.ts';
export * from './pool.ts';
export * from './session.ts';
export * from './workspace.ts';
