/**
 * Flags for readings that need attention: outside the usual range, a spike, a jump, a flat line. A suspect reading is
 * shown and counted, and stays in every statistic. The flags are QARTOD's (U.S. IOOS): 1 good, 3 suspect, 9 missing.
 * Readings that would get 4, fail, were rejected on arrival.
 *
 * The limits are raised to the sensor's usual values, see `sensorLimits`.
 */

import { presentOf, type Samples } from '../present.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import { gapMarks } from '../reliability/gaps.ts'
import { recurs } from '../reliability/interval-estimate.ts'
import { flatLines } from './flat-line.ts'
import { errorBit, errorPlaces, flatBit, type QualityLimits, rangeBit, rateBit, spikeBit } from './quality-limits.ts'
import { flatMinMs, flatSpread, rounding, type SensorLimits, sensorLimits, spikeSize } from './sensor-limits.ts'

export const flagGood = 1
export const flagSuspect = 3
export const flagMissing = 9

interface QualityCounts {
  readonly good: number
  readonly suspect: number
  readonly missing: number
  /** Readings that each test finds suspect; one reading may be in several. */
  readonly tests: Readonly<Record<'range' | 'spike' | 'rate' | 'flat' | 'error_code', number>>
  /** The sensor's resolution; null when no step is frequent. */
  readonly quantum: number | null
  /** Length from which a flat line is suspect; null without the test, or with too few runs to know the usual length. */
  readonly flat_hours: number | null
}

export interface Quality {
  /** One for each reading. */
  readonly flags: Uint8Array
  /** Failed tests of each reading, see `quality-marks.ts`; 0 for good and missing values. */
  readonly marks: Uint8Array
  readonly counts: QualityCounts
  readonly limits: SensorLimits
}

const hourMs = 3_600_000

/**
 * The largest interval of a rate is stretched by half, so that a minute's jitter does not switch the test on and off.
 */
const rateStretch = 1.5

/**
 * Checks one metric's readings (NaN = missing) at ascending times. Neighbours are the metric's own readings before and
 * after. A spike and a flat line end at a gap, which is an interval above the threshold of its time. Without a
 * threshold, readings have no neighbours.
 */
export function checkQuality(
  timesMs: Float64Array,
  values: Float64Array,
  limits: QualityLimits,
  gaps: GapThresholds,
): Quality {
  const { marks, known } = markedReadings(timesMs, values, limits, gaps)
  const quantum = known.quantum === 0 ? null : known.quantum
  const flat_hours = known.flat === null || known.flatMs === null ? null : known.flatMs / hourMs
  return {
    ...byReading(values, marks),
    limits: known,
    counts: { ...countMarks(marks, values.length), quantum, flat_hours },
  }
}

/** One for each reading. */
export interface JudgedReadings {
  readonly flags: Uint8Array
  /** 1 for a reading of a flat line. */
  readonly isFlat: Uint8Array
  /**
   * 1 for a reading of a line that is flat for three hours or more, if the sensor has too few runs to know the usual
   * length.
   */
  readonly isStill: Uint8Array
}

export function judgeReadings(
  timesMs: Float64Array,
  values: Float64Array,
  limits: QualityLimits,
  gaps: GapThresholds,
): JudgedReadings {
  const { present, marks, known, isGapBefore } = markedReadings(timesMs, values, limits, gaps)
  const isUnknown = known.flat !== null && known.flatMs === null
  const still = isUnknown
    ? flatLines(present.timesMs, present.values, flatSpread(known.flat), known.flatWithin, isGapBefore, flatMinMs)
    : undefined
  const { flags, marks: ofReadings } = byReading(values, marks)
  const isStill = new Uint8Array(values.length)
  for (let index = 0, place = 0; index < values.length; index++) {
    if (!Number.isNaN(values[index] as number)) isStill[index] = still?.[place++] ?? 0
  }
  return { flags, isFlat: ofReadings.map(mark => (mark & flatBit ? 1 : 0)), isStill }
}

interface MarkedReadings {
  /** Samples without missing ones. The following fields describe these. */
  readonly present: Samples
  readonly isGapBefore: Uint8Array
  readonly marks: Uint8Array
  readonly known: SensorLimits
}

function markedReadings(
  timesMs: Float64Array,
  values: Float64Array,
  limits: QualityLimits,
  gaps: GapThresholds,
): MarkedReadings {
  const present = presentOf(timesMs, values)
  const isGapBefore = gapMarks(present.timesMs, gaps)
  const known = sensorLimits(present, limits, isGapBefore)
  return { present, isGapBefore, known, marks: marksOf(present, known, isGapBefore) }
}

/** `found` has one entry for each present reading. */
function byReading(values: Float64Array, found: Uint8Array): Pick<Quality, 'flags' | 'marks'> {
  const flags = new Uint8Array(values.length).fill(flagMissing)
  const marks = new Uint8Array(values.length)
  for (let index = 0, place = 0; index < values.length; index++) {
    if (Number.isNaN(values[index] as number)) continue
    const mark = found[place++] as number
    flags[index] = mark === 0 ? flagGood : flagSuspect
    marks[index] = mark
  }
  return { flags, marks }
}

/** One bit for each test that finds the reading suspect. */
function marksOf({ timesMs: times, values }: Samples, limits: SensorLimits, isGapBefore: Uint8Array): Uint8Array {
  const marks = new Uint8Array(values.length)
  if (limits.range !== null) markRange(values, limits.range, marks)
  if (limits.spike !== null) markSpikes(values, limits.spike, limits.isFree, isGapBefore, marks)
  if (limits.isFree) for (const place of errorPlaces(values)) marks[place] = errorBit
  if (limits.rate.length > 0) markRates(times, values, limits, isGapBefore, marks)
  if (!limits.isOwn.spike && !limits.isOwn.rate) clearRecurring({ timesMs: times, values }, marks)
  if (limits.flat === null || limits.flatMs === null) return marks
  const flat = flatLines(times, values, flatSpread(limits.flat), limits.flatWithin, isGapBefore, limits.flatMs)
  for (let index = 0; index < marks.length; index++) if (flat[index] === 1) (marks[index] as number) |= flatBit
  return marks
}

function countMarks(marks: Uint8Array, readings: number): Omit<QualityCounts, 'quantum' | 'flat_hours'> {
  let range = 0
  let spike = 0
  let rate = 0
  let flat = 0
  let error_code = 0
  let suspect = 0
  for (let index = 0; index < marks.length; index++) {
    const mark = marks[index] as number
    if (mark === 0) continue
    suspect++
    if (mark & rangeBit) range++
    if (mark & spikeBit) spike++
    if (mark & rateBit) rate++
    if (mark & flatBit) flat++
    if (mark & errorBit) error_code++
  }
  return {
    good: marks.length - suspect,
    suspect,
    missing: readings - marks.length,
    tests: { range, spike, rate, flat, error_code },
  }
}

function markRange(values: Float64Array, [min, max]: readonly [number, number], marks: Uint8Array): void {
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number
    if (value < min || value > max) (marks[index] as number) |= rangeBit
  }
}

/** A gauge without known limits has similar values around a spike. Otherwise it is a step. */
function markSpikes(
  values: Float64Array,
  limit: number,
  isFree: boolean,
  isGapBefore: Uint8Array,
  marks: Uint8Array,
): void {
  for (let index = 1; index < values.length - 1; index++) {
    if (isGapBefore[index] === 1 || isGapBefore[index + 1] === 1) continue
    const size = spikeSize(values, index)
    if (!(size > limit + rounding)) continue
    const apart = Math.abs((values[index + 1] as number) - (values[index - 1] as number))
    if (!isFree || apart <= size / 2) (marks[index] as number) |= spikeBit
  }
}

/** The later of two successive readings is marked. */
function markRates(
  times: Float64Array,
  values: Float64Array,
  { rate, usualChange }: SensorLimits,
  isGapBefore: Uint8Array,
  marks: Uint8Array,
): void {
  const changeMin = changeMax(rate, 0)
  for (let index = 1; index < values.length; index++) {
    const change = Math.abs((values[index] as number) - (values[index - 1] as number))
    // A longer time allows a larger change. So a change within the limit of a minute, the usual case, does not need the
    // interval.
    if (change <= changeMin + rounding || (change <= usualChange && isGapBefore[index] === 0)) continue
    const intervalMs = (times[index] as number) - (times[index - 1] as number)
    if (change > changeMax(rate, intervalMs) + rounding) (marks[index] as number) |= rateBit
  }
}

const changeBits = spikeBit | rateBit
/** Marks of one event are closer. */
const eventMs = 3_600_000
/** Fewer events do not show that they recur. */
const eventsMin = 10
const dayMs = 86_400_000
/** Share of the days on which a door or a window is opened. */
const usualDaysMin = 0.5
const keptMin = 0.25

interface ChangeEvent {
  readonly startMs: number
  /** Indexes of its first and last mark. */
  readonly from: number
  to: number
}

/**
 * Changes that come back are usual for the place: at the same intervals, as the defrosts of a freezer do, or on most
 * days and fading, as the air behind an opened door or window does.
 */
function clearRecurring({ timesMs, values }: Samples, marks: Uint8Array): void {
  const events = changeEvents(timesMs, marks)
  if (events.length < eventsMin) return
  const fading = events.filter(event => fades(event, values))
  const days = ((timesMs.at(-1) as number) - (timesMs[0] as number)) / dayMs
  const onDays = new Set(fading.map(({ startMs }) => Math.floor(startMs / dayMs))).size
  const isUsual = onDays >= Math.max(eventsMin, usualDaysMin * days)
  for (const { from, to } of recurs(events.map(({ startMs }) => startMs)) ? events : isUsual ? fading : []) {
    for (let index = from; index <= to; index++) (marks[index] as number) &= ~changeBits
  }
}

function changeEvents(times: Float64Array, marks: Uint8Array): ChangeEvent[] {
  const events: ChangeEvent[] = []
  let lastMs = Number.NEGATIVE_INFINITY
  for (let index = 0; index < marks.length; index++) {
    if (((marks[index] as number) & changeBits) === 0) continue
    const startMs = times[index] as number
    const event = events.at(-1)
    if (event !== undefined && startMs - lastMs <= eventMs) event.to = index
    else events.push({ startMs, from: index, to: index })
    lastMs = startMs
  }
  return events
}

/** True if the reading after the farthest one keeps a part of its distance. A wild reading is gone at once. */
function fades({ from, to }: ChangeEvent, values: Float64Array): boolean {
  const before = values[Math.max(0, from - 1)] as number
  let farthest = from
  for (let index = from; index <= to; index++) {
    if (Math.abs((values[index] as number) - before) > Math.abs((values[farthest] as number) - before)) farthest = index
  }
  const kept = ((values[farthest + 1] ?? before) - before) / ((values[farthest] as number) - before)
  return kept >= keptMin
}

export function changeMax(rate: QualityLimits['rate'], intervalMs: number): number {
  let previousMs = 0
  let previousChange = rate[0]?.[1] ?? Number.POSITIVE_INFINITY
  for (const [knotMs, change] of rate) {
    if (intervalMs <= knotMs) {
      return previousChange + ((change - previousChange) * (intervalMs - previousMs)) / (knotMs - previousMs)
    }
    previousMs = knotMs
    previousChange = change
  }
  return intervalMs <= rateStretch * previousMs ? previousChange : Number.POSITIVE_INFINITY
}
