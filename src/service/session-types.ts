/** Native, conservative stealth, aggressive stealth (section 1 of the service document). */
export const sessionTypes = ['hosted', 'hosted_stealth', 'hosted_privacy'] as const;
