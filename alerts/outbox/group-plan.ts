/** Decides about a due group: which alerts are notified now, whether it waits longer than usual, and when it is due again. */

import type { Waits } from '../core/bounds.ts'
import type { HeldMember, Member } from './member-rows.ts'
import type { Hold } from './silence-rows.ts'

export interface GroupState {
  nowMs: number
  /** Time of the last notification, including the present one; NaN without one. */
  lastSentMs: number
  /** Earliest end of the holds on pending members; Infinity for none. */
  holdEndsMs: number
  /** True while a notified alert fires and is not held. */
  hasFiring: boolean
  /** True while one of these is not acknowledged. */
  hasUnacknowledged: boolean
  /** True while a notified alert fires unacknowledged and is held. */
  hasHeldUnacknowledged: boolean
}

export interface DueRules {
  waits: Waits
  /** Repeat interval of kinds whose receivers expire an alert without repeats. */
  refreshMs: number | undefined
}

/** Longest time between checks of a held alert. */
export const reviewMs = 300_000

/** Undefined where it has nothing more to say. */
export function nextDueMs(state: GroupState, { waits, refreshMs }: DueRules): number | undefined {
  const { nowMs, lastSentMs, holdEndsMs, hasFiring, hasUnacknowledged, hasHeldUnacknowledged } = state
  const repeatAtMs = lastSentMs + waits.repeatMs
  const possible = [
    Number.isNaN(lastSentMs) ? holdEndsMs : Math.max(holdEndsMs, lastSentMs + waits.groupIntervalMs),
    refreshMs !== undefined && hasFiring ? lastSentMs + refreshMs : Number.POSITIVE_INFINITY,
    refreshMs === undefined && hasUnacknowledged ? repeatAtMs : Number.POSITIVE_INFINITY,
    hasHeldUnacknowledged ? Math.max(repeatAtMs, nowMs + reviewMs) : Number.POSITIVE_INFINITY,
  ]
  const dueMs = Math.min(...possible)
  return dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs
}

/** True where the group repeats its notification. */
export function isRepeatDue({ nowMs, lastSentMs, hasUnacknowledged }: GroupState, { waits }: DueRules): boolean {
  return hasUnacknowledged && nowMs >= lastSentMs + waits.repeatMs
}

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

/** A group with this many notifications in an hour waits longer for the next one. */
const sentMax = 7

/**
 * Returns the end of a group's waiting time, or -Infinity if it may send at once. `sentMs` has the times of its news,
 * oldest first. After seven times within twelve intervals (an hour), the group waits for six intervals each time, until
 * it was still for eight.
 */
export function backoffEndMs(sentMs: readonly number[], intervalMs: number): number {
  let recent: number[] = []
  let isBusy = false
  for (const atMs of sentMs) {
    const isStill = atMs - (recent.at(-1) ?? atMs) > 8 * intervalMs
    recent = isStill ? [atMs] : [...recent, atMs].slice(-sentMax)
    const isOften = recent.length === sentMax && atMs - (recent[0] ?? atMs) <= 12 * intervalMs
    isBusy = isOften || (isBusy && !isStill)
  }
  return isBusy ? (recent.at(-1) ?? Number.NEGATIVE_INFINITY) + 6 * intervalMs : Number.NEGATIVE_INFINITY
}
