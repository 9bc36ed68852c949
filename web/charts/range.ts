/** The range of a chart: presets, zoom, moves and its form in the page's address. */

import type { FindingTimes } from '../text/finding-words.ts'
import { localMs, type Zone } from '../text/zone.ts'
import { t } from '../words/words.ts'

export interface TimeWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** A length of time up to now, or two moments. */
export type Range = { readonly preset: Preset } | TimeWindow

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const presetsMs = {
  '1h': hourMs,
  '6h': 6 * hourMs,
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
  '365d': 365 * dayMs,
} as const
export type Preset = keyof typeof presetsMs

export const spanMsMin = 10 * minuteMs
/** A request for readings spans at most this many days. */
export const spanMsMax = 366 * dayMs

export function isPreset(range: Range): range is { readonly preset: Preset } {
  return 'preset' in range
}

/** Reads the range of an address. Invalid values, and presets that the page lacks, give the last day. */
export function readRange(fields: URLSearchParams, presets: readonly Preset[]): Range {
  return readWindow(fields) ?? { preset: presets.find(preset => preset === fields.get('range')) ?? '24h' }
}

/** Undefined where there is none, or one that cannot be shown. */
export function readWindow(fields: URLSearchParams): TimeWindow | undefined {
  const [fromMs, toMs] = [readMoment(fields.get('from')), readMoment(fields.get('to'))]
  if (fromMs === undefined || toMs === undefined) return undefined
  const spanMs = toMs - fromMs
  return spanMs >= spanMsMin && spanMs <= spanMsMax ? { fromMs, toMs } : undefined
}

/** `2026-11-24T10:00Z`, a full minute. */
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/

function readMoment(text: string | null): number | undefined {
  const atMs = text !== null && momentPattern.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? undefined : atMs
}

/** The arguments that `readRange` reads it from; none for the last day. */
export function rangeArguments(range: Range): Record<'range' | 'from' | 'to', string | undefined> {
  if (!isPreset(range)) return { range: undefined, from: writeMoment(range.fromMs), to: writeMoment(range.toMs) }
  return { range: range.preset === '24h' ? undefined : range.preset, from: undefined, to: undefined }
}

function writeMoment(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16)}Z`
}

export function windowOf(range: Range, nowMs: number): TimeWindow {
  return isPreset(range) ? { fromMs: nowMs - presetsMs[range.preset], toMs: nowMs } : range
}

/** The calendar month of a moment, up to that moment. */
export function monthUpTo(nowMs: number, zone: Zone): TimeWindow {
  const today = zone.dayOf(nowMs)
  const startMs = zone.dayStartMs(today + 1 - new Date(today * dayMs).getUTCDate())
  return select(startMs, nowMs, nowMs)
}

/** Zooms around a moment that keeps its place. A factor below 1 shows less. */
export function zoom(window: TimeWindow, factor: number, centreMs: number, nowMs: number): TimeWindow {
  const spanMs = window.toMs - window.fromMs
  const newSpanMs = Math.min(spanMsMax, Math.max(spanMsMin, spanMs * factor))
  const share = (centreMs - window.fromMs) / spanMs
  return fit(centreMs - share * newSpanMs, newSpanMs, nowMs)
}

/** Moves by a share of the window. A negative share goes back in time. */
export function pan({ fromMs, toMs }: TimeWindow, share: number, nowMs: number): TimeWindow {
  return fit(fromMs + share * (toMs - fromMs), toMs - fromMs, nowMs)
}

/** Two moments in any order, no closer than may be shown. */
export function select(oneMs: number, otherMs: number, nowMs: number): TimeWindow {
  const spanMs = Math.min(spanMsMax, Math.max(spanMsMin, Math.abs(otherMs - oneMs)))
  return fit((oneMs + otherMs - spanMs) / 2, spanMs, nowMs)
}

/** Full minutes, since the address has them, and nothing that is still to come. */
function fit(fromMs: number, spanMs: number, nowMs: number): TimeWindow {
  const spanOfMinutesMs = Math.round(spanMs / minuteMs) * minuteMs
  const startMs = Math.round(Math.min(fromMs, nowMs - spanOfMinutesMs) / minuteMs) * minuteMs
  return { fromMs: startMs, toMs: startMs + spanOfMinutesMs }
}

const stepsSeconds = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

/** The finest step, in seconds, that cuts the window into at most so many pieces. */
export function stepOf({ fromMs, toMs }: TimeWindow, piecesMax: number): number {
  const spanSeconds = (toMs - fromMs) / 1000
  return stepsSeconds.find(seconds => spanSeconds / seconds <= piecesMax) ?? 86_400
}

/** A margin before the finding and, if it has ended, after it: a quarter of its length, at least an hour. */
export function findingWindow({ sinceMs, untilMs }: FindingTimes, nowMs: number): TimeWindow {
  const endMs = Math.min(nowMs, untilMs ?? nowMs)
  const aroundMs = Math.max(hourMs, (endMs - sinceMs) / 4)
  const toMs = floorMinute(Math.min(nowMs, endMs + aroundMs))
  const fromMs = floorMinute(Math.max(sinceMs - aroundMs, toMs - spanMsMax))
  return { fromMs: Math.min(fromMs, toMs - spanMsMin), toMs }
}

const floorMinute = (atMs: number) => Math.floor(atMs / minuteMs) * minuteMs

/** `2026-11-24T10:00`, as fields of dates with times have it. */
export function localMinute(atMs: number, zone: Zone): string {
  return new Date(atMs + zone.offsetMs(atMs)).toISOString().slice(0, 16)
}

/** Returns a text where the fields are invalid. */
export function customWindow(from: string, to: string, zone: Zone, nowMs: number): TimeWindow | string {
  if (![from, to].every(isMinute)) return t('Enter both times.')
  const [fromMs, toMs] = [localMs(zone, from), localMs(zone, to)]
  if (toMs <= fromMs) return t('The end must be after the start.')
  if (toMs > nowMs) return t('The end is in the future.')
  if (toMs - fromMs < spanMsMin) return t('A range has at least 10 minutes.')
  if (toMs - fromMs > spanMsMax) return t('A range has at most 366 days.')
  return { fromMs, toMs }
}

/** Browsers hand over an empty text for a field that is filled in part. */
const isMinute = (text: string) => !Number.isNaN(Date.parse(`${text}Z`))

/** Returns the error of a range in the address, or undefined. */
export function addressFault(fields: URLSearchParams): string | undefined {
  if ((!fields.has('from') && !fields.has('to')) || readWindow(fields) !== undefined) return undefined
  return t(
    'The range in the address cannot be shown: from and to are full minutes, such as 2026-11-24T10:00Z, from 10 minutes to 366 days apart.',
  )
}
