/**
 * Devices whose last day differs from their own usual days, while their peers' does not. Levels are not compared: a
 * freezer is colder than a room, and a mountain than a valley. The deviation is in units of its usual size, 1.4826
 * times the median absolute deviation (Rousseeuw and Croux, Journal of the American Statistical Association 88 (1993)
 * 1273).
 */

import { median, medianAbsoluteDeviation } from 'simple-statistics'
import { comparedDays, type DayChanges, dayChanges, type QuarterTable } from './day-changes.ts'

export interface Outlier {
  /** Its index in the table. */
  readonly device: number
  /** The mean of the last day. */
  readonly value: number
  /** The expected mean, had the device changed as its peers did. */
  readonly expected: number
  readonly score: number
  /** Number of compared devices; without any, `expected` follows its own usual days. */
  readonly peers: number
}

export interface FleetOptions {
  readonly tagsOf: (device: number) => readonly string[]
  /**
   * Smaller differences are within the tolerance of good sensors; null for three times the usual deviation of its
   * peers.
   */
  readonly differenceMin: number | null
  /** If true, a device without peers is skipped. */
  readonly hasPeers?: boolean
  /** Minimum score of a listed device. */
  readonly scoreMin?: number
}

const usualScoreMin = 5.5
/** Applies without peers: a weather front may reach one device alone. */
const aloneScoreMin = 9
/** The standard deviation of a normal distribution with a median absolute deviation of 1. */
const normalScale = 1.4826
/** The same for its standard deviation without the three farthest of fourteen. */
const trimmedScale = 1.548
const farthestDays = 3
/** When a larger share of a group deviates, the environment has changed. */
const shareMax = 0.2
const usualScales = 3
/** Beyond them a device does not change as its peers do. */
const [gainMin, gainMax] = [0.3, 2]

/** Largest score first. */
export function fleetChanges(
  table: QuarterTable,
  { tagsOf, differenceMin, hasPeers = false, scoreMin = usualScoreMin }: FleetOptions,
): Outlier[] {
  const all: DayChanges[] = []
  for (let device = 0; device < table.devices; device++) {
    const found = dayChanges(table, device)
    if (found !== undefined) all.push(found)
  }
  const peers = peersOf(all, tagsOf)
  const deviations = all.map((one, place) =>
    deviationsOf(
      one,
      (peers[place] as number[]).map(other => all[other] as DayChanges),
    ),
  )
  const scales = deviations.map(scaleOf)
  const alone = peers.flatMap((of, place) => (of.length === 0 ? [place] : []))
  const groups = peers.map((of, place) => (of.length === 0 ? alone : [...of, place]))
  const found = all.map((one, place) => {
    const own = scales[place] as number
    // Devices without peers have nothing in common.
    const usual =
      (peers[place] as number[]).length === 0
        ? own
        : median((groups[place] as number[]).map(other => scales[other] as number))
    const least = differenceMin ?? usualScales * usual
    const { byDay, leverage } = deviations[place] as Deviations
    const deviation = byDay[comparedDays - 1] as number
    const compared = (peers[place] as number[]).length
    const beyond = compared === 0 ? Math.max(scoreMin, aloneScoreMin) : scoreMin
    const scale = Math.max(Math.max(own, usual) * leverage, least / beyond)
    const score = deviation / scale
    const isAlone = hasPeers && compared === 0
    const isBeyond = !isAlone && least > 0 && Math.abs(score) >= beyond && Math.abs(deviation) >= least
    return { device: one.device, value: one.value, expected: one.value - deviation, score, peers: compared, isBeyond }
  })
  return found
    .filter((one, place) => one.isBeyond && !isOfAll(groups[place] as number[], found))
    .map(({ isBeyond: _, ...outlier }) => outlier)
    .sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
}

function isOfAll(group: readonly number[], found: readonly { readonly isBeyond: boolean }[]): boolean {
  const beyond = group.filter(place => found[place]?.isBeyond).length
  return beyond > 1 && beyond > shareMax * group.length
}

interface Deviations {
  readonly byDay: Float64Array
  /** Factor by which the last day may deviate further than the usual days. */
  readonly leverage: number
}

/** Deviations by day: the change minus the peers' median times the gain of the device. */
function deviationsOf({ changes }: DayChanges, peers: readonly DayChanges[]): Deviations {
  if (peers.length === 0) return { byDay: changes, leverage: 1 }
  const common = changes.map((_, day) => {
    const others = peers.map(peer => peer.changes[day] as number).filter(value => !Number.isNaN(value))
    return others.length === 0 ? 0 : median(others)
  })
  const { gain, squares } = gainOf(changes, common)
  const last = common[comparedDays - 1] as number
  // Prediction error for a gain estimated from these days.
  const leverage = squares > 0 ? Math.sqrt(1 + last ** 2 / squares) : 1
  return { byDay: changes.map((change, day) => change - gain * (common[day] as number)), leverage }
}

/** Gain of the least squares over the usual days: a station in a valley may follow the weather by half. */
function gainOf(changes: Float64Array, common: Float64Array): { gain: number; squares: number } {
  let products = 0
  let squares = 0
  for (let day = 0; day < comparedDays - 1; day++) {
    const product = (changes[day] as number) * (common[day] as number)
    if (Number.isNaN(product)) continue
    products += product
    squares += (common[day] as number) ** 2
  }
  return { gain: squares > 0 ? Math.min(gainMax, Math.max(gainMin, products / squares)) : 1, squares }
}

/**
 * Scale of the usual days. A single measure often underestimates the scatter of fourteen days by half. So the larger
 * one counts of the median absolute deviation and the standard deviation without the three farthest days, each scaled
 * for a normal distribution.
 */
function scaleOf({ byDay }: Deviations): number {
  const usual = Array.from(byDay.subarray(0, comparedDays - 1)).filter(value => !Number.isNaN(value))
  const middle = median(usual)
  const distances = usual.map(value => (value - middle) ** 2).sort((a, b) => a - b)
  const near = distances.slice(0, -farthestDays)
  const deviation = Math.sqrt(near.reduce((sum, square) => sum + square, 0) / near.length)
  return Math.max(normalScale * medianAbsoluteDeviation(usual), trimmedScale * deviation)
}

/** Enough for a median. */
const peersMax = 50
const taggedMin = 5
const correlatedMin = 4
const correlationMin = 0.7
/** In a larger fleet each device is compared with some of the others: all pairs would take too long. */
const devicesMax = 2000
const drawnMax = 200

/**
 * Returns the indexes of each device's peers, which may be empty. `tagsOf` returns the tags of a device in the table.
 */
function peersOf(all: readonly DayChanges[], tagsOf: (device: number) => readonly string[]): number[][] {
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

/** Returns at most `max` entries at equal distances, beginning with the first. */
function evenly(all: readonly number[], max: number): number[] {
  if (all.length <= max) return [...all]
  return Array.from({ length: max }, (_, at) => all[Math.floor((at * all.length) / max)] as number)
}
