/** A device, or a station, as the analytics see it: the part of its registry entry that an answer depends on. */

import type { CellType } from '../analytics/battery/curves.ts'
import { bandOfDevice } from '../analytics/domain/cold-chain.ts'
import type { Band } from '../analytics/domain/figures.ts'
import { isColdChain, type Profile } from '../analytics/domain/profile.ts'
import { type MetricSettings, type QualityLimits, qualityLimits } from '../analytics/quality/quality-limits.ts'
import type { Metric } from '../store/tables.ts'
import type { QueryDevice } from './fleet.ts'

export interface AnalysedDevice extends QueryDevice {
  readonly log_switch: boolean
  /** Metres above sea level. */
  readonly altitude_m: number | null
  /** Configured interval in seconds; null when none is configured. */
  readonly expected_interval_seconds: number | null
  /** The device's own quality limits; null for the limits of all devices. */
  readonly quality_limits: Readonly<Partial<Record<Metric, MetricSettings | undefined>>> | null
  readonly profile: Profile
  readonly battery_type: CellType | null
  /** Number of cells in series; null for one. */
  readonly battery_cells: number | null
  /** A station has points instead of readings. */
  readonly station?: Station
}

/** Keeps these fields alone, so that they can be posted to a worker and be part of a key. */
export function analysedDevice(device: AnalysedDevice): AnalysedDevice {
  const { number, symbol, name, location_short, log_switch, altitude_m, expected_interval_seconds, quality_limits } =
    device
  const { profile, battery_type, battery_cells } = device
  const known = {
    log_switch,
    altitude_m,
    expected_interval_seconds,
    quality_limits,
    profile,
    battery_type,
    battery_cells,
  }
  const { station } = device
  return { number, symbol, name, location_short, ...known, ...(station !== undefined && { station }) }
}

export type AnalysedStation = AnalysedDevice & { readonly station: Station }

/** `id` is the station's number in the registry. */
export function analysedStation(id: number, station: Station): AnalysedStation {
  return {
    number: id,
    symbol: '',
    name: station.sn,
    location_short: '',
    log_switch: true,
    altitude_m: null,
    expected_interval_seconds: null,
    quality_limits: null,
    profile: 'none',
    battery_type: null,
    battery_cells: null,
    station,
  }
}

type LimitedDevice = Pick<AnalysedDevice, 'altitude_m' | 'quality_limits' | 'profile'>

/** Limits beyond which a reading is suspect. Limits of a cold chain's goods do not count: each defrost exceeds them. */
export function deviceLimits({ altitude_m, quality_limits, profile }: LimitedDevice, metric: Metric): QualityLimits {
  const { min, max, ...others } = quality_limits?.[metric] ?? {}
  const isOfGoods = metric === 'temperature' && isColdChain(profile)
  return qualityLimits(metric, altitude_m, isOfGoods ? others : { ...others, min, max })
}

/** Limits of the goods in a cold chain; null without any, and for another profile. */
export function bandOfGoods({ altitude_m, quality_limits, profile }: LimitedDevice): Band | null {
  if (!isColdChain(profile)) return null
  return bandOfDevice(profile, qualityLimits('temperature', altitude_m, quality_limits?.temperature))
}

/** The queries' data about a station: plain data, so that it can be posted to a thread. */

export interface Station {
  readonly sn: string
  readonly timeZone: string
  readonly series: readonly { readonly number: number; readonly parameter: string }[]
}

/** A station of the registry without points yet. It avoids a search among the points of all stations. */
export function silentStation(record: Pick<Parameters<typeof pointStation>[0], 'sn' | 'timezone'>): Station {
  return pointStation({ ...record, series: new Map() })
}

/** A station of the registry. */
export function pointStation(record: {
  readonly sn: string
  readonly timezone: string
  readonly series: ReadonlyMap<string, number>
}): Station {
  const { sn, timezone, series } = record
  return { sn, timeZone: timezone, series: Array.from(series, ([parameter, number]) => ({ number, parameter })) }
}
