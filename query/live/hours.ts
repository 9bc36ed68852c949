/** The completeness of each of the 24 full hours of a device. */

import { bug } from '../../store/limits/bug.ts'
import { type LiveColumns, neverHour, ringHours } from './columns.ts'
import { kindAt } from './live-state.ts'

export const hourMs = 3_600_000
export const hourUs = hourMs * 1000
export const hoursShown = 24
/** Values that are older than this before the last reading are neither shown nor loaded. */
export const valueAgeUsMax = 24 * hourUs
const countMax = 65_535

/** Counts a reading that came in the order of time; false when its hour is out of reach. */
export function countReading(columns: LiveColumns, slot: number, hour: number): boolean {
  if (hour > (columns.newestHour[slot] as number)) moveOn(columns, slot, hour)
  else if (hour <= (columns.newestHour[slot] as number) - ringHours) return false
  const at = slot * ringHours + (hour % ringHours)
  if ((columns.counts[at] as number) < countMax) (columns.counts[at] as number)++
  return true
}

/** Merges QuestDB's count of an hour, which may lack readings in transit. */
export function mergeCount(columns: LiveColumns, slot: number, hour: number, count: number): void {
  if (hour > (columns.newestHour[slot] as number)) moveOn(columns, slot, hour)
  else if (hour <= (columns.newestHour[slot] as number) - ringHours) return
  const at = slot * ringHours + (hour % ringHours)
  columns.counts[at] = Math.min(countMax, Math.max(count, columns.counts[at] as number))
}

export function replaceCount(columns: LiveColumns, slot: number, hour: number, count: number): void {
  if (hour > (columns.newestHour[slot] as number) || hour <= (columns.newestHour[slot] as number) - ringHours) {
    mergeCount(columns, slot, hour, count)
    return
  }
  columns.counts[slot * ringHours + (hour % ringHours)] = Math.min(countMax, count)
}

/** The hours in between are empty. */
function moveOn(columns: LiveColumns, slot: number, hour: number): void {
  const from = slot * ringHours
  const before = columns.newestHour[slot] as number
  if (hour <= before) throw bug(`counts of slot ${slot} out of order: hour ${hour} after ${before}`)
  if (hour - before >= ringHours) columns.counts.fill(0, from, from + ringHours)
  else for (let empty = before + 1; empty <= hour; empty++) columns.counts[from + (empty % ringHours)] = 0
  columns.newestHour[slot] = hour
}

/** Rescales the counts after a change of the expected interval, so that past hours stay as complete as they were. */
export function rescaleCounts(columns: LiveColumns, slot: number, factor: number): void {
  if (!(factor > 0 && factor < Number.POSITIVE_INFINITY))
    throw bug(`invalid factor ${factor} for the counts of slot ${slot}`)
  for (let at = slot * ringHours; at < (slot + 1) * ringHours; at++) {
    const count = columns.counts[at] as number
    if (count > 0) columns.counts[at] = Math.min(countMax, Math.max(1, Math.round(count * factor)))
  }
}

function countOf(columns: LiveColumns, slot: number, hour: number): number {
  const newest = columns.newestHour[slot] as number
  if (hour > newest || hour <= newest - ringHours) return 0
  return columns.counts[slot * ringHours + (hour % ringHours)] as number
}

/**
 * 24 letters, oldest first: `A` no reading, `B` under half of the expected readings, `C` under 90 %, `D` complete, `-`
 * before the first reading. Without a regular interval, an hour with a reading is complete.
 */
export function hoursText(columns: LiveColumns, slot: number, nowMs: number): string {
  const presentHour = Math.floor(nowMs / hourMs)
  const firstHour = columns.firstHour[slot] as number
  let text = ''
  for (let hour = presentHour - hoursShown; hour < presentHour; hour++) {
    text += firstHour === neverHour || hour < firstHour ? '-' : letterOf(columns, slot, countOf(columns, slot, hour))
  }
  return text
}

function letterOf(columns: LiveColumns, slot: number, count: number): string {
  if (count === 0) return 'A'
  if (columns.kinds[slot] !== kindAt.regular) return 'D'
  const share = shareOf(columns, slot, count)
  if (share < 0.5) return 'B'
  return share < 0.9 ? 'C' : 'D'
}

/**
 * Share of the expected readings in a full hour of a regular device; NaN up to the hour of its first reading, and out
 * of reach.
 */
export function shareOfHour(columns: LiveColumns, slot: number, hour: number): number {
  const firstHour = columns.firstHour[slot] as number
  const newest = columns.newestHour[slot] as number
  if (firstHour === neverHour || hour <= firstHour || hour <= newest - ringHours) return Number.NaN
  return shareOf(columns, slot, countOf(columns, slot, hour))
}

function shareOf(columns: LiveColumns, slot: number, count: number): number {
  return (count * (columns.expectedMs[slot] as number)) / hourMs
}

/**
 * A guess of the interval from the counts of full hours, used until the estimate is known. The fuller hours decide,
 * since hours may lack readings. NaN with fewer than two readings an hour.
 */
export function intervalByCounts(columns: LiveColumns, slot: number, presentHour: number): number {
  const counts: number[] = []
  for (let hour = presentHour - hoursShown; hour < presentHour; hour++) counts.push(countOf(columns, slot, hour))
  const high = counts.toSorted((a, b) => b - a)[Math.floor(counts.filter(count => count > 0).length / 4)] ?? 0
  if (high < 2) return Number.NaN
  const full = counts.filter(count => count >= 0.9 * high && count <= 1.1 * high)
  return (hourMs * full.length) / full.reduce((sum, count) => sum + count, 0)
}
