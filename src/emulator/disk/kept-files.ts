/** Of Chromium's user data dir, what is a person's: the one profile, and the key that its secrets are kept under. */
const TOP = new Set(['', 'Default', 'Local State']);

/** Files that Chromium recreates, and files about windows and locks of an ended run. */
const LEFT_OUT = new Set([
  'Cache',
  'Code Cache',
  'DawnGraphiteCache',
  'DawnWebGPUCache',
  'GPUCache',
  'LOCK',
  'LOG',
  'LOG.old',
  'Sessions',
  'Sessions_Encrypted',
  'optimization_guide_model_store',
]);

/** Whether a path in a user data dir belongs to a saved profile. */
export function isKept(path: string): boolean {
  const parts = path.split(/[\\/]/);
  return TOP.has(parts[0] ?? '') && !parts.some((part) => LEFT_OUT.has(part));
}
