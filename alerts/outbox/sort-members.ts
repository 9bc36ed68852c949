/** What is said of each alert of a group now: which are told, which are held, and of which there is nothing more to say. */

import type { Hold } from './hold.ts'
import type { HeldMember, Member } from './member-rows.ts'
import type { GroupState } from './next-due.ts'

export interface SortedMembers {
  /** To be told for the first time, that they fire or flap. */
  news: Member[]
  /** Over, which is to be told. */
  ended: Member[]
  /** Told before, still so. */
  ongoing: Member[]
  /** Over before anything was told, and held now or before. */
  untold: number[]
  held: HeldMember[]
}

/** `wasHeld`: those that were held at some time. What it finds is noted in the state of the group too. */
export function sortMembers(
  members: readonly Member[],
  hold: Hold,
  wasHeld: ReadonlySet<number>,
  group: GroupState,
): SortedMembers {
  const sorted: SortedMembers = { news: [], ended: [], ongoing: [], untold: [], held: [] }
  for (const member of members) {
    if (member.state === 'resolved') sortEnded(member, hold, wasHeld, sorted)
    else sortFiring(member, hold, group, sorted)
  }
  return sorted
}

/** Who was told that it fires is told its end, whatever holds. */
function sortEnded(member: Member, hold: Hold, wasHeld: ReadonlySet<number>, sorted: SortedMembers): void {
  const held = member.told === 'firing' ? undefined : hold(member.device)
  if (held !== undefined) sorted.held.push({ alert: member.id, by: held.by })
  const isUntold = held !== undefined || (member.told === 'nothing' && wasHeld.has(member.id))
  if (isUntold) sorted.untold.push(member.id)
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
