/** The requests and responses of the service, shared by the client, the options and the emulator. */
export * from './account.ts';
export * from './extension.ts';
export * from './network.ts';
export * from './pool.ts';
export * from './profile.ts';
export * from './session.ts';
