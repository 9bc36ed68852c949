/** Lists the reasons why due days do not expire automatically. */

/**
 * `several_days`: they became due at once. `no_newer_readings`: the newest reading does not prove their age.
 * `archive_unavailable`: they are not archived, which no person can confirm.
 */
export const waitReasons = ['several_days', 'no_newer_readings', 'archive_unavailable'] as const
export type WaitReason = (typeof waitReasons)[number]
