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
  /** Over before anything was told. */
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
    // An end is told whatever holds: who was told that it fires waits for it.
    const held = member.told === 'firing' && member.state === 'resolved' ? undefined : hold(member.device)
    if (member.state === 'resolved') {
      if (member.told === 'firing' || (held === undefined && !wasHeld.has(member.id))) sorted.ended.push(member)
      else sorted.untold.push(member.id)
    } else if (held === undefined) {
      if (member.owes === null) sorted.ongoing.push(member)
      else sorted.news.push(member)
      group.hasFiring = true
      group.hasUnacknowledged ||= member.acknowledged_by === null
    } else {
      sorted.held.push({ alert: member.id, by: held.by })
      if (member.owes !== null) group.holdEndsMs = Math.min(group.holdEndsMs, held.untilMs)
      if (member.told === 'firing') group.hasHeldUnacknowledged ||= member.acknowledged_by === null
    }
  }
  return sorted
}
