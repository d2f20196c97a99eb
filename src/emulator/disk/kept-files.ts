/** Of Chromium's user data dir, what is a person's: the one profile, and the key that its secrets are kept under. */
const TOP = new Set(['', 'Default', 'Local State']);

/** What it makes anew by itself, and what is about windows and locks of a run that is over. */
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
