/**
 * Limits beyond which a reading of each metric is suspect. Ranges describe the world's inhabited places; steps of one
 * minute and changes over 1 to 12 hours are the WMO's (Guide to Instruments and Methods of Observation, quality control
 * of automatic stations). A device may have its own limits, which apply unchanged; the others are raised to its
 * sensor's resolution (see `checkQuality`).
 */

import { quantilesInPlace } from '../summary/quantile.ts'

export type FlatWithin = readonly [above: number, below: number]

export interface QualityLimits {
  /** Suspect outside [min, max]; null disables the test. */
  readonly range: readonly [number, number] | null
  /** Suspect further than this from the mean of both neighbours. */
  readonly spike: number | null
  /**
   * Largest change between two readings, by the time between them: [milliseconds, change], ascending, linear between.
   */
  readonly rate: readonly (readonly [number, number])[]
  /** A line is flat while its spread stays below this; 0: while its readings are equal; null disables the test. */
  readonly flat: number | null
  /** Readings outside these bounds are never part of a flat line: humidity stays at saturation for hours. */
  readonly flatWithin: FlatWithin
  /** Configured length of a suspect flat line; null: derived from the sensor's own runs. */
  readonly flatMs: number | null
  /** The configured resolution of the sensor; null: derived from its readings. */
  readonly quantum: number | null
  /** True without known limits. The sensor's own values then determine spikes, and a list has the error codes. */
  readonly isFree: boolean
  /** Configured limits, which apply unchanged. */
  readonly isOwn: { readonly range: boolean; readonly spike: boolean; readonly rate: boolean }
}

/** Limits of one metric of a device: missing ones are the same as for all devices, null disables a test or a bound. */
export interface MetricSettings {
  readonly min?: number | null | undefined
  readonly max?: number | null | undefined
  readonly spike?: number | null | undefined
  /** The largest change in a minute; limits of hours change in proportion. */
  readonly rate?: number | null | undefined
  readonly flat_hours?: number | null | undefined
  readonly quantum?: number | null | undefined
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

function changes(perMinute: number, over: readonly number[]): [number, number][] {
  return [[minuteMs, perMinute], ...over.map((change, index): [number, number] => [rateHours[index] as number, change])]
}
const rateHours = [1, 2, 3, 6, 12].map(hours => hours * hourMs)

const none: QualityLimits = {
  range: null,
  spike: null,
  rate: [],
  flat: null,
  flatWithin: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  flatMs: null,
  quantum: null,
  isFree: false,
  isOwn: { range: false, spike: false, rate: false },
}

/** Units are °C, %, hPa and V. The battery has the bounds of stored values. */
const usualLimits = {
  temperature: { ...none, range: [-30, 50], spike: 3, rate: changes(3, [4, 7, 9, 15, 25]), flat: 0.1 },
  humidity: { ...none, spike: 15, rate: changes(15, []), flat: 1, flatWithin: [Number.NEGATIVE_INFINITY, 95] },
  pressure: { ...none, spike: 1, rate: changes(0.5, [3, 6, 9, 18, 36]), flat: 0.1 },
  battery_voltage: none,
  battery_percentage: none,
} satisfies Record<string, QualityLimits>

/** A metric without usual limits has only its settings. `altitudeM` null: unknown. */
export function qualityLimits(metric: string, altitudeM: number | null, settings: MetricSettings = {}): QualityLimits {
  const usual = usualOf(metric)
  const range = metric === 'pressure' ? pressureRange(altitudeM) : usual.range
  const { min, max, spike, rate, flat_hours, quantum } = settings
  return {
    ...usual,
    range: rangeOf(range, min, max),
    spike: spike === undefined ? usual.spike : spike,
    rate: rate === undefined ? usual.rate : ratesOf(usual.rate, rate),
    flat: flat_hours === null ? null : usual.flat,
    flatMs: (flat_hours ?? null) === null ? null : (flat_hours as number) * hourMs,
    quantum: quantum ?? null,
    isOwn: {
      range: min !== undefined || max !== undefined,
      spike: spike !== undefined,
      rate: rate !== undefined,
    },
  }
}

/**
 * Limits of a metric with an unknown spread: a line is flat where successive readings are equal, compared with the
 * sensor's own runs.
 */
export function stillLimits(limits: QualityLimits, { flat_hours }: MetricSettings): QualityLimits {
  return flat_hours === null ? limits : { ...limits, flat: limits.flat ?? 0 }
}

/** Limits of a gauge without known ones. `spike` null disables the test. */
export function freeLimits(limits: QualityLimits, { spike }: MetricSettings): QualityLimits {
  return { ...limits, isFree: spike !== null }
}

function usualOf(metric: string): QualityLimits {
  return Object.hasOwn(usualLimits, metric) ? usualLimits[metric as keyof typeof usualLimits] : none
}

function rangeOf(
  usual: QualityLimits['range'],
  min: number | null | undefined,
  max: number | null | undefined,
): QualityLimits['range'] {
  const [usualMin, usualMax] = usual ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  const least = min === undefined ? usualMin : (min ?? Number.NEGATIVE_INFINITY)
  const most = max === undefined ? usualMax : (max ?? Number.POSITIVE_INFINITY)
  return least === Number.NEGATIVE_INFINITY && most === Number.POSITIVE_INFINITY ? null : [least, most]
}

/** A metric without its own limits for hours is limited within a minute alone. */
function ratesOf(usual: QualityLimits['rate'], perMinute: number | null): QualityLimits['rate'] {
  if (perMinute === null) return []
  const [first] = usual
  return first === undefined
    ? changes(perMinute, [])
    : usual.map(([ms, change]) => [ms, (change * perMinute) / first[1]])
}

/**
 * Pressures that a station may measure: the usual range of 870 to 1085 hPa is at sea level, and falls with the altitude
 * h as in the International Standard Atmosphere (ISO 2533): p(h) = p(0) · (1 − 2.25577·10⁻⁵ h)^5.25588.
 */

const seaLevel = [870, 1085] as const
/** Altitudes where people live, from the shore of the Dead Sea to La Rinconada in Peru. */
const inhabitedM = [-430, 5100] as const

/**
 * The range is in hPa. An unknown altitude (metres above sea level) spans the highest to the lowest inhabited place.
 */
function pressureRange(altitudeM: number | null): [number, number] {
  const [lowest, highest] = altitudeM === null ? inhabitedM : [altitudeM, altitudeM]
  return [seaLevel[0] * pressureRatio(highest), seaLevel[1] * pressureRatio(lowest)]
}

function pressureRatio(altitudeM: number): number {
  return (1 - 2.25577e-5 * altitudeM) ** 5.25588
}

/** One bit for each test that finds a reading suspect. */

export const rangeBit = 1
export const spikeBit = 2
export const rateBit = 4
export const flatBit = 8
/** The number is an error code. */
export const errorBit = 16

const codes: ReadonlySet<number> = new Set([-200, -999, -9999, 65_535, 32_767, 85, 127])
const shareMax = 0.1
const countMin = 10
/** Share of the distance between the 1 and the 99 % quantile. */
export const widthShare = 1 / 3

/** The indexes of error codes among values without NaN, ascending. */
export function errorPlaces(values: Float64Array): number[] {
  const places: number[] = []
  for (let place = 0; place < values.length; place++) if (codes.has(values[place] as number)) places.push(place)
  if (places.length === 0 || places.length > shareMax * values.length || values.length < countMin) return []
  const others = values.filter(value => !codes.has(value))
  const [low, high] = quantilesInPlace(others, [0.01, 0.99]) as [number, number]
  const beyond = widthShare * (high - low)
  return places.filter(place => (values[place] as number) < low - beyond || (values[place] as number) > high + beyond)
}

/** Replaces errors by NaN; returns the same array without errors. NaN is a missing value. */
export function withoutErrors(values: Float64Array): Float64Array {
  if (!values.some(value => codes.has(value))) return values
  const present = values.filter(value => !Number.isNaN(value))
  const errors = new Set(errorPlaces(present).map(place => present[place] as number))
  return values.map(value => (errors.has(value) ? Number.NaN : value))
}
