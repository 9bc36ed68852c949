/** Lists the roles of an account. */

export const roles = ['user', 'administrator', 'operator'] as const
export type Role = (typeof roles)[number]
