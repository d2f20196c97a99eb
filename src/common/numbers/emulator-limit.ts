/** The emulator's default for `plan.concurrent_browsers`, as runs know it without asking. */
export const EMULATOR_LIMIT = 10;
