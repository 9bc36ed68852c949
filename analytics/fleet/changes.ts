/**
 * Devices of which the last day differs from their own usual days as those of their peers do not. Levels are not compared: a
 * freezer is colder than a room, and a mountain than a valley. The deviation is in units of its usual size, 1.4826 times the
 * median absolute deviation (Rousseeuw and Croux, Journal of the American Statistical Association 88 (1993) 1273).
 */

import { median, medianAbsoluteDeviation } from 'simple-statistics'
import { comparedDays, type DayChanges, dayChanges, type QuarterTable } from './day-changes.ts'
import { peersOf } from './peers.ts'

export interface Outlier {
  /** Its place in the table. */
  readonly device: number
  /** The mean of the last day. */
  readonly value: number
  /** What it would be, had the device changed as its peers did. */
  readonly expected: number
  readonly score: number
  /** So many devices it was compared with; of none, what is expected is its own usual days. */
  readonly peers: number
}

export interface FleetOptions {
  readonly tagsOf: (device: number) => readonly string[]
  /** Smaller differences are those of good sensors; null for three times the usual deviation of its peers. */
  readonly differenceMin: number | null
  /** A device without any like it is not looked at. */
  readonly hasPeers?: boolean
  /** From which score on a device is listed. */
  readonly scoreMin?: number
}

const usualScoreMin = 5.5
/** Where no device is like it: a front of the weather comes to one alone as well. */
const aloneScoreMin = 9
/** Of a normal distribution, the standard deviation for a median absolute deviation of 1. */
const normalScale = 1.4826
/** The same of its standard deviation without the three farthest of fourteen. */
const trimmedScale = 1.548
const farthestDays = 3
/** When more of a group are beyond, it is the world that has changed. */
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
    // Those without peers have nothing in common.
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
  /** So many times as far as on the usual days it may be on the last one. */
  readonly leverage: number
}

/** By day, less as much of the median of the peers as the device follows it. */
function deviationsOf({ changes }: DayChanges, peers: readonly DayChanges[]): Deviations {
  if (peers.length === 0) return { byDay: changes, leverage: 1 }
  const common = changes.map((_, day) => {
    const others = peers.map(peer => peer.changes[day] as number).filter(value => !Number.isNaN(value))
    return others.length === 0 ? 0 : median(others)
  })
  const { gain, squares } = gainOf(changes, common)
  const last = common[comparedDays - 1] as number
  // Of a prediction by a gain that is known as well as those days tell it.
  const leverage = squares > 0 ? Math.sqrt(1 + last ** 2 / squares) : 1
  return { byDay: changes.map((change, day) => change - gain * (common[day] as number)), leverage }
}

/** Of the least squares over the usual days: a station in a valley may follow the weather by half. */
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
 * Of the usual days. By one measure alone, the scatter of fourteen days is often half of what it is: the larger one of the median
 * absolute deviation and the standard deviation of all days but the three farthest, each for a normal distribution.
 */
function scaleOf({ byDay }: Deviations): number {
  const usual = Array.from(byDay.subarray(0, comparedDays - 1)).filter(value => !Number.isNaN(value))
  const middle = median(usual)
  const distances = usual.map(value => (value - middle) ** 2).sort((a, b) => a - b)
  const near = distances.slice(0, -farthestDays)
  const deviation = Math.sqrt(near.reduce((sum, square) => sum + square, 0) / near.length)
  return Math.max(normalScale * medianAbsoluteDeviation(usual), trimmedScale * deviation)
}
