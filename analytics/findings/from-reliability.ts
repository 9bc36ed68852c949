/** Findings about the times of readings: silence, outages and their pattern, and missing metrics. */

import { circularSummary } from '../direction/circular-summary.ts'
import { lowerBound, upperBound } from '../lower-bound.ts'
import { type Cadence, cadenceOf, StretchCursor } from '../reliability/cadence.ts'
import type { Freshness } from '../reliability/freshness.ts'
import type { Gap } from '../reliability/gaps.ts'
import type { ReliabilityRecord } from '../reliability/reliability-record.ts'
import { parseDate, twoDigits } from '../time/calendar.ts'
import type { LocalTime } from '../time/local-time.ts'
import { type DayPattern, type Finding, findingsOfKind, noDetails } from './finding.ts'
import { recentMs } from './from-quality.ts'

const hourMs = 3_600_000
/** Fewer intervals are losses: with one reading in ten lost, seven in a row do not occur within a month. */
const outageIntervals = 8
/**
 * An irregular device exceeds G occasionally; with 50 readings a day it exceeds one and a half times G in one month of
 * eighty.
 */
const irregularGaps = 1.5
/** A metric is missing after this many of its usual intervals, or of its longest usual silences. */
const behindTimes = 5
/** It must have existed before: in this share of the hours of a week, and in this many of them. */
const hoursShareMin = 0.5
const hoursMin = 12

/** `lastMs` is the time of the last reading. A late device may report at any moment, so it has no finding. */
export function silentFinding(state: Freshness['state'], lastMs: number | null): Finding | undefined {
  if (lastMs === null || (state !== 'stale' && state !== 'offline')) return undefined
  const severity = state === 'offline' ? 'critical' : 'warning'
  return { ...noDetails, code: 'silent', severity, metric: null, sinceMs: lastMs }
}

/** Ended outages only; `silentFinding` reports the ongoing one. */
export function outageFindings(
  { gaps, cadence, firstSeenMs }: ReliabilityRecord,
  local: LocalTime,
  nowMs: number,
): Finding[] {
  const pattern = outagePattern(gaps, local, nowMs, firstSeenMs ?? nowMs)
  const inPattern = new Set(pattern?.gaps)
  const outages = outagesOf(
    gaps.filter(gap => !inPattern.has(gap)),
    cadence,
    nowMs,
  )
  const longest = outages.toSorted((a, b) => b.duration_seconds - a.duration_seconds)[0]
  const findings: Finding[] = []
  if (pattern !== null && (pattern.untilMs ?? nowMs) >= nowMs - recentMs) {
    const { sinceMs, untilMs, count } = pattern
    findings.push({
      ...noDetails,
      code: 'outage_pattern',
      severity: 'warning',
      metric: null,
      sinceMs,
      untilMs,
      count,
      pattern: pattern.pattern,
    })
  }
  if (longest !== undefined) {
    const { start_ms: sinceMs, end_ms: untilMs } = longest
    findings.push({
      ...noDetails,
      code: 'outage',
      severity: 'warning',
      metric: null,
      sinceMs,
      untilMs,
      count: outages.length,
    })
  }
  return findings
}

function outagesOf(gaps: readonly Gap[], cadence: Cadence, nowMs: number): Gap[] {
  return longGaps(gaps, cadence).filter(({ end_ms }) => end_ms !== null && end_ms >= nowMs - recentMs)
}

/** Gaps longer than losses, oldest first. */
export function longGaps(gaps: readonly Gap[], { kind, stretches }: Cadence): Gap[] {
  const cursor = new StretchCursor(stretches)
  return gaps
    .toSorted((a, b) => a.start_ms - b.start_ms)
    .filter(({ start_ms, duration_seconds }) => {
      const stretch = cursor.at(start_ms)
      if (stretch === undefined) return false
      const irregularMs = kind === 'irregular' ? irregularGaps * stretch.gapMs : 0
      return duration_seconds * 1000 >= Math.max(outageIntervals * stretch.expectedMs, hourMs, irregularMs)
    })
}

export interface MetricTimes {
  readonly name: string
  readonly kind: keyof typeof findingsOfKind
  /** Times of its values, ascending. */
  readonly timesMs: Float64Array
}

/**
 * Findings of metrics that have been missing for long although the device reports; `lastMs` is the time of its last
 * reading.
 */
export function silentMetricFindings(metrics: readonly MetricTimes[], cadence: Cadence, lastMs: number): Finding[] {
  return metrics
    .filter(({ kind, timesMs }) => findingsOfKind[kind].silentMetric && isBehind(timesMs, cadence, lastMs))
    .map(({ name, timesMs }) => {
      return {
        ...noDetails,
        code: 'silent_metric',
        severity: 'warning',
        metric: name,
        sinceMs: timesMs.at(-1) as number,
      }
    })
}

function isBehind(timesMs: Float64Array, { expectedMs }: Cadence, deviceMs: number): boolean {
  const lastMs = timesMs.at(-1)
  if (lastMs === undefined) return false
  const behindMs = deviceMs - lastMs
  if (behindMs <= Math.max(behindTimes * (expectedMs ?? 0), hourMs) || !wasThere(timesMs)) return false
  // Its own cadence takes longer than all of the above.
  return behindMs > behindTimes * (cadenceOf(timesMs, null).gapMs ?? 0)
}

/** Examines the week up to the last of these times. */
function wasThere(timesMs: Float64Array): boolean {
  const lastMs = timesMs.at(-1) as number
  const week = timesMs.subarray(upperBound(timesMs, lastMs - recentMs))
  const hours = hoursWithValue(week)
  const hoursKnown = Math.max(1, (lastMs - (week[0] as number)) / hourMs)
  return hours >= hoursMin && hours >= hoursShareMin * hoursKnown
}

interface Absence {
  /** Time of the last value before it. */
  readonly startMs: number
  /** Time of the first value after it; null without one. */
  readonly endMs: number | null
}

/**
 * Times at which a metric was missing from the readings at `deviceMs`, ascending, by the rules of
 * `silentMetricFindings`.
 */
export function absencesOf({ kind, timesMs }: MetricTimes, cadence: Cadence, deviceMs: Float64Array): Absence[] {
  const lengthMinMs = Math.max(behindTimes * (cadence.expectedMs ?? 0), hourMs)
  const absences: Absence[] = []
  let ownMs: number | undefined
  if (!findingsOfKind[kind].silentMetric) return absences
  for (let index = 0; index < timesMs.length; index++) {
    const startMs = timesMs[index] as number
    const endMs = timesMs[index + 1] ?? null
    const untilMs = endMs ?? deviceMs.at(-1) ?? startMs
    if (untilMs - startMs <= lengthMinMs) continue
    ownMs ??= behindTimes * (cadenceOf(timesMs, null).gapMs ?? 0)
    const sent = deviceMs.subarray(upperBound(deviceMs, startMs), lowerBound(deviceMs, untilMs))
    const isSilent = hoursWithValue(sent) < hoursShareMin * ((untilMs - startMs) / hourMs)
    if (untilMs - startMs <= ownMs || isSilent || !wasThere(timesMs.subarray(0, index + 1))) continue
    absences.push({ startMs, endMs })
  }
  return absences
}

function hoursWithValue(timesMs: Float64Array): number {
  let count = 0
  for (let index = 0; index < timesMs.length; count++) {
    const hour = Math.floor((timesMs[index] as number) / hourMs)
    index = lowerBound(timesMs, (hour + 1) * hourMs)
  }
  return count
}

const minuteMs = 60_000
const dayMs = 24 * hourMs
const minutesOfDay = 1440

/** Shorter ones are losses. A longer one covers every time of the day. */
const lengthMinMs = hourMs
const lengthMaxMs = 20 * hourMs
/** Distance between the examined times of the day. */
const slotMinutes = 15
/** Days required among the last seven, or share of at least this many of thirty days. */
const weekDays = 7
const daysOfWeekMin = 4
const shareMin = 0.5
const daysMin = 10
const daysMax = 30
/** The mean resultant length of their beginnings, at which they scatter by less than two hours. */
const resultantMin = 0.9

interface OutagePattern {
  readonly sinceMs: number
  /** Null while the pattern includes the last day. */
  readonly untilMs: number | null
  /** Number of days with an outage. */
  readonly count: number
  readonly pattern: DayPattern
  readonly gaps: readonly Gap[]
}

interface Outage {
  readonly gap: Gap
  /** The local day number of its beginning, and the minute of the clock at which it begins. */
  readonly day: number
  readonly fromMinute: number
  readonly lengthMinutes: number
}

/** Takes gaps in any order; ongoing ones are ignored. `firstMs` is the device's first reading. */
export function outagePattern(
  gaps: readonly Gap[],
  local: LocalTime,
  nowMs: number,
  firstMs: number,
): OutagePattern | null {
  const outages = gaps.flatMap(gap => outageOf(gap, local, nowMs) ?? [])
  const members = mostAtOneTime(outages)
  const daysKnown = Math.min(daysMax, Math.floor((nowMs - firstMs) / dayMs))
  const days = daysOf(members)
  // A daily outage ends once on each day.
  const daysOfWeek = daysOf(members.filter(({ gap }) => (gap.end_ms as number) > nowMs - weekDays * dayMs))
  const isOfWeek = daysOfWeek >= daysOfWeekMin
  const isOfMonth = daysKnown >= daysMin && days >= shareMin * daysKnown
  if (!isOfWeek && !isOfMonth) return null
  const starts = circularSummary(Float64Array.from(members, ({ fromMinute }) => degreesOf(fromMinute)))
  if ((starts.resultant_length ?? 0) < resultantMin || starts.mean_degrees === null) return null
  const ends = circularSummary(
    Float64Array.from(members, ({ fromMinute, lengthMinutes }) => degreesOf(fromMinute + lengthMinutes)),
  )
  if (ends.mean_degrees === null) return null
  const sorted = members.map(({ gap }) => gap).sort((a, b) => a.start_ms - b.start_ms)
  const last = sorted.at(-1) as Gap
  const [count, ofDays] = isOfWeek
    ? [daysOfWeek, Math.max(daysOfWeek, Math.min(weekDays, daysKnown))]
    : [days, daysKnown]
  return {
    sinceMs: (sorted[0] as Gap).start_ms,
    untilMs: nowMs - (last.end_ms as number) > dayMs + lengthMaxMs ? last.end_ms : null,
    count,
    pattern: { from: clockText(starts.mean_degrees), to: clockText(ends.mean_degrees), days: ofDays },
    gaps: sorted,
  }
}

function outageOf(gap: Gap, local: LocalTime, nowMs: number): Outage | undefined {
  if (gap.end_ms === null || gap.end_ms < nowMs - daysMax * dayMs) return undefined
  const lengthMs = gap.end_ms - gap.start_ms
  if (lengthMs < lengthMinMs || lengthMs > lengthMaxMs) return undefined
  const { day, minute } = localMinutes(gap.start_ms, local)
  return { gap, day, fromMinute: minute, lengthMinutes: lengthMs / minuteMs }
}

function localMinutes(timeMs: number, local: LocalTime): { day: number; minute: number } {
  const text = local.text(timeMs * 1000)
  const minute = 60 * Number(text.slice(11, 13)) + Number(text.slice(14, 16))
  return { day: parseDate(text.slice(0, 10)) as number, minute }
}

/** The outages that contain the most frequent time of the day, each with the day on which it contains that time. */
function mostAtOneTime(outages: readonly Outage[]): Outage[] {
  let best: Outage[] = []
  let bestDays = 0
  for (let minute = 0; minute < minutesOfDay; minute += slotMinutes) {
    const there = outages.flatMap(outage => {
      const { day, fromMinute, lengthMinutes } = outage
      if ((minute - fromMinute + minutesOfDay) % minutesOfDay >= lengthMinutes) return []
      // On some nights they begin before midnight, on others after it.
      return [{ ...outage, day: minute < fromMinute ? day + 1 : day }]
    })
    const days = daysOf(there)
    if (days > bestDays) [best, bestDays] = [there, days]
  }
  return best
}

const daysOf = (outages: readonly Outage[]) => new Set(outages.map(({ day }) => day)).size

const degreesOf = (minute: number) => (minute / minutesOfDay) * 360

function clockText(degrees: number): string {
  const minute = Math.round((degrees / 360) * minutesOfDay) % minutesOfDay
  return `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}`
}
