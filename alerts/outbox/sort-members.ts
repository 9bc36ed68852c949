/** Sorts the alerts of a group: those to notify now, those on hold, and those whose notifications are complete. */

import type { Hold } from './hold.ts'
import type { HeldMember, Member } from './member-rows.ts'
import type { GroupState } from './next-due.ts'

export interface SortedMembers {
  /** First notification of firing or flapping. */
  news: Member[]
  /** Resolved; the end is notified. */
  ended: Member[]
  /** Notified before, still firing. */
  ongoing: Member[]
  /** Resolved without a notification, and held now or before. */
  unnotified: number[]
  held: HeldMember[]
}

/** `wasHeld`: alerts that were held at some time. The state of the group is updated too. */
export function sortMembers(
  members: readonly Member[],
  hold: Hold,
  wasHeld: ReadonlySet<number>,
  group: GroupState,
): SortedMembers {
  const sorted: SortedMembers = { news: [], ended: [], ongoing: [], unnotified: [], held: [] }
  for (const member of members) {
    if (member.state === 'resolved') sortEnded(member, hold, wasHeld, sorted)
    else sortFiring(member, hold, group, sorted)
  }
  return sorted
}

/** A notified alert's end is always notified, despite holds. */
function sortEnded(member: Member, hold: Hold, wasHeld: ReadonlySet<number>, sorted: SortedMembers): void {
  const held = member.told === 'firing' ? undefined : hold(member.device)
  if (held !== undefined) sorted.held.push({ alert: member.id, by: held.by })
  const isUnnotified = held !== undefined || (member.told === 'nothing' && wasHeld.has(member.id))
  if (isUnnotified) sorted.unnotified.push(member.id)
  else sorted.ended.push(member)
}

function sortFiring(member: Member, hold: Hold, group: GroupState, sorted: SortedMembers): void {
  const held = hold(member.device)
  const isAcknowledged = member.acknowledged_by !== null
  if (held === undefined) {
    if (member.owes === null) sorted.ongoing.push(member)
    else sorted.news.push(member)
    group.hasFiring = true
    group.hasUnacknowledged ||= !isAcknowledged
    return
  }
  sorted.held.push({ alert: member.id, by: held.by })
  if (member.owes !== null) group.holdEndsMs = Math.min(group.holdEndsMs, held.untilMs)
  if (member.told === 'firing') group.hasHeldUnacknowledged ||= !isAcknowledged
}
