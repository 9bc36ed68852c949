/**
 * Cold chain: the mean kinetic temperature, the time outside the device's own limits or a pharmacy's 2 to 8 °C, door
 * openings, and defrosts. A value holds up to the next one, but not beyond the longest interval that is not a gap.
 */

import { holdsUntil, type TimeRange } from '../excursions/excursions.ts'
import { lowerBound } from '../lower-bound.ts'
import type { Samples } from '../present.ts'
import type { QualityLimits } from '../quality/quality-limits.ts'
import { type Reason, reasons } from '../reasons.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import { type Defrosts, defrostsAmong, type Rise, temperatureRises } from './defrosts.ts'
import { type Band, type BandFigure, bandFigure, type HeldValues, type Reasoned, spreadFigure } from './figures.ts'
import type { Profile } from './profile.ts'

/** Limits of a pharmacy's refrigerator: USP <659>. */
export const coldChainBand: Band = { unit: '°C', below: 2, above: 8 }

/** Limits of the device, if it has both, else the limits of a pharmacy; null for any other cold chain. */
export function bandOfDevice(profile: Profile, { range, isOwn }: Pick<QualityLimits, 'range' | 'isOwn'>): Band | null {
  const [below, above] = range ?? [Number.NaN, Number.NaN]
  if (isOwn.range && Number.isFinite(below) && Number.isFinite(above)) return { unit: '°C', below, above }
  return profile === 'pharmacy' ? coldChainBand : null
}

export interface ColdChainFigures {
  readonly temperature: BandFigure
  readonly mean_kinetic_temperature: Reasoned & { readonly value: number | null }
  /** Rises of 1 K or more within 10 minutes that are not defrosts. */
  readonly door_openings: Reasoned & { readonly count: number | null }
  readonly defrosts: Reasoned & { readonly count: number | null; readonly period_hours: number | null }
}

export interface ColdChainInput extends TimeRange {
  /** Temperatures are in °C and never NaN. Times ascend, and include values before the range. */
  readonly samples: Samples
  /** Empty while the interval of the device is unknown. Then a value holds for an hour at most. */
  readonly gaps: GapThresholds
  /** The samples are means of hours, which do not show doors. */
  readonly isHourly: boolean
  /** Defaults to 2 to 8 °C; null without limits. */
  readonly band?: Band | null
}

interface Events {
  readonly doors: readonly Rise[]
  readonly defrosts: Defrosts
}

const hourMs = 3_600_000
const doorIntervalMsMax = 600_000

/** Figures of the whole range, and of each of `days`. */
export function coldChainFigures(
  input: ColdChainInput,
  days: readonly TimeRange[],
): { readonly total: ColdChainFigures; readonly days: readonly ColdChainFigures[] } {
  const untilMs = holdsUntil(input.samples.timesMs, input)
  const events = eventsOf(input)
  const { band = coldChainBand } = input
  const figuresOf = (range: TimeRange) => {
    return figuresBetween(range, { held: heldBetween(range, input.samples, untilMs), band, events })
  }
  return { total: figuresOf(input), days: days.map(figuresOf) }
}

interface Known {
  readonly held: HeldValues
  readonly band: Band | null
  readonly events: Events | Reason
}

function figuresBetween({ startMs, endMs }: TimeRange, { held, band, events }: Known): ColdChainFigures {
  const temperature = band === null ? withoutBand(held) : bandFigure(held, band, reasons.noValue)
  const { reason } = temperature
  const known = {
    temperature,
    mean_kinetic_temperature: { reason, value: reason === null ? meanKineticTemperature(held) : null },
  }
  const lack = reason ?? (typeof events === 'string' ? events : null)
  if (lack !== null || typeof events === 'string') {
    const none = { reason: lack, count: null }
    return { ...known, door_openings: none, defrosts: { ...none, period_hours: null } }
  }
  const { doors, defrosts } = events
  const countOf = (rises: readonly Rise[]) => {
    return rises.reduce((count, { startMs: atMs }) => (atMs >= startMs && atMs < endMs ? count + 1 : count), 0)
  }
  return {
    ...known,
    door_openings: { reason: null, count: countOf(doors) },
    defrosts:
      defrosts.reason === null
        ? { reason: null, count: countOf(defrosts.rises), period_hours: defrosts.periodMs / hourMs }
        : { reason: defrosts.reason, count: null, period_hours: null },
  }
}

function withoutBand(held: HeldValues): BandFigure {
  const none = { below: null, above: null, hours_below: null, hours_above: null }
  return { ...spreadFigure(held, coldChainBand.unit, reasons.noValue), ...none }
}

function eventsOf({ samples: { timesMs, values }, startMs, isHourly }: ColdChainInput): Events | Reason {
  if (isHourly) return reasons.longRange
  const from = lowerBound(timesMs, startMs)
  const samples = { timesMs: timesMs.subarray(from), values: values.subarray(from) }
  if (!isFrequent(samples.timesMs)) return reasons.sparseReadings
  const rises = temperatureRises(samples)
  const defrosts = defrostsAmong(rises, samples)
  const known = new Set(defrosts.reason === null ? defrosts.rises : [])
  return { doors: rises.filter(rise => !known.has(rise)), defrosts }
}

/** True if at least half of the intervals are short enough to show a door. */
function isFrequent(timesMs: Float64Array): boolean {
  let short = 0
  for (let at = 1; at < timesMs.length; at++) {
    if ((timesMs[at] as number) - (timesMs[at - 1] as number) <= doorIntervalMsMax) short++
  }
  return short > 0 && 2 * short >= timesMs.length - 1
}

function heldBetween({ startMs, endMs }: TimeRange, { timesMs, values }: Samples, untilMs: Float64Array): HeldValues {
  // The value before the range may hold at its start.
  const from = Math.max(0, lowerBound(timesMs, startMs) - 1)
  const to = lowerBound(timesMs, endMs)
  const hours = timesMs.subarray(from, to).map((timeMs, at) => {
    const heldMs = Math.min(untilMs[from + at] as number, endMs) - Math.max(timeMs, startMs)
    return Math.max(0, heldMs) / hourMs
  })
  return { values: values.subarray(from, to), hours }
}

/**
 * Mean kinetic temperature, USP <1079>: the constant temperature with the same decay as the measured ones, T_K =
 * (ΔH/R)/(−ln Σ w e^{−ΔH/(R T)}), T in kelvin and w the share of time. With ΔH = 83.144 kJ/mol and R = 8.3144 J/(mol
 * K), ΔH/R is 10,000 K.
 */

const activationK = 10_000
const zeroCelsiusK = 273.15

/** Takes and returns °C; NaN without values. */
export function meanKineticTemperature({ values, hours }: HeldValues): number {
  let rates = 0
  let observed = 0
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    const held = hours === undefined ? 1 : (hours[at] as number)
    if (!(value > -zeroCelsiusK) || held <= 0) continue
    rates += held * Math.exp(-activationK / (value + zeroCelsiusK))
    observed += held
  }
  return activationK / -Math.log(rates / observed) - zeroCelsiusK
}
