/** Why days that are due by the clock do not expire by themselves. */

/** `several_days`: they were due at once. `no_newer_readings`: by the newest reading, they are not old enough. `archive_unavailable`: they
 * are not archived; no person can confirm these. */
export const waitReasons = ['several_days', 'no_newer_readings', 'archive_unavailable'] as const
export type WaitReason = (typeof waitReasons)[number]
