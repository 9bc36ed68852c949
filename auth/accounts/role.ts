/** What an account may be. */

export const roles = ['user', 'administrator', 'operator'] as const
export type Role = (typeof roles)[number]
