/** The peers of a device: devices with a common tag, or else devices that change as it does. */

import type { DayChanges } from './day-changes.ts'

/** Enough for a median. */
const peersMax = 50
const taggedMin = 5
const correlatedMin = 4
const correlationMin = 0.7
/** In a larger fleet each device is compared with some of the others: all pairs would take too long. */
const devicesMax = 2000
const drawnMax = 200

/**
 * For each device, the indexes of its peers, which may be empty. `tagsOf` returns the tags of a device in the table.
 */
export function peersOf(all: readonly DayChanges[], tagsOf: (device: number) => readonly string[]): number[][] {
  const groups = groupsByTag(all, tagsOf)
  const candidates = all.length <= devicesMax ? all.map((_, place) => place) : evenly(places(all.length), drawnMax)
  return all.map(({ device }, place) => {
    const sizes = tagsOf(device).flatMap(tag => {
      const group = groups.get(tag) ?? []
      return group.length >= taggedMin ? [group] : []
    })
    const [smallest] = sizes.sort((a, b) => a.length - b.length)
    if (smallest !== undefined)
      return evenly(
        smallest.filter(other => other !== place),
        peersMax,
      )
    return correlated(all, place, candidates)
  })
}

function groupsByTag(all: readonly DayChanges[], tagsOf: (device: number) => readonly string[]) {
  const groups = new Map<string, number[]>()
  for (const [place, { device }] of all.entries()) {
    for (const tag of tagsOf(device)) {
      const group = groups.get(tag)
      if (group === undefined) groups.set(tag, [place])
      else group.push(place)
    }
  }
  return groups
}

/** The candidates with the highest correlations. */
function correlated(all: readonly DayChanges[], place: number, candidates: readonly number[]): number[] {
  const own = (all[place] as DayChanges).quarters
  const found: { other: number; r: number }[] = []
  for (const other of candidates) {
    if (other === place) continue
    const r = product(own, (all[other] as DayChanges).quarters)
    if (r > correlationMin) found.push({ other, r })
  }
  if (found.length < correlatedMin) return []
  if (found.length > peersMax) found.sort((a, b) => b.r - a.r)
  return found.slice(0, peersMax).map(({ other }) => other)
}

/** Uses the entries that both have. */
function product(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) {
    const both = (a[at] as number) * (b[at] as number)
    if (!Number.isNaN(both)) sum += both
  }
  return sum
}

function places(length: number): number[] {
  return Array.from({ length }, (_, place) => place)
}

/** At most `max` entries, from the first to the last at equal distances. */
function evenly(all: readonly number[], max: number): number[] {
  if (all.length <= max) return [...all]
  return Array.from({ length: max }, (_, at) => all[Math.floor((at * all.length) / max)] as number)
}
