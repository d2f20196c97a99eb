export function nextStep(changes: string[], isPublished: () => boolean): 'propose' | 'publish' | 'nothing';
