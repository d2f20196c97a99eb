/** The numbers of section 8 of the service document (and, marked so, of the service notes), stated once. */
export const LIMITS = {
  /** Seconds. */
  duration: { min: 60, max: 3600, default: 3600 },
  /** Pixels, for `windowSize` and `displaySize`. */
  width: { min: 320, max: 16_384 },
  height: { min: 200, max: 16_384 },
  /** Characters. */
  note: { max: 256 },
  timezone: { min: 1, max: 128 },
  language: { min: 2, max: 64 },
  country: { length: 2 },
  poolId: { min: 6, max: 80 },
  /** Service notes: characters. */
  poolName: { min: 1, max: 64 },
  /** Service notes: ms. */
  waitMs: { min: 0, max: 30_000, default: 0 },
  /** Service notes: seconds. */
  leaseTimeoutSeconds: { min: 30, max: 86_400, default: 900 },
  maxReadyAgeSeconds: { min: 30, max: 86_400, default: 3600 },
  /** Bytes of an extension's ZIP. The document shows no bound: this one is ours. */
  extensionBytes: { max: 128 * 1024 * 1024 },
  /** Service notes: larger values are clamped to `max`. */
  pageSize: { max: 100, default: 20 },
} as const;

/** Native, conservative stealth, aggressive stealth (section 1 of the service document). */
export const sessionTypes = ['hosted', 'hosted_stealth', 'hosted_privacy'] as const;
