/** Options that map a file of readings in an unknown format. */

import type { Precision } from '../../ingest/formats/line-protocol-text.ts'
import type { DecimalMark } from '../../ingest/formats/number.ts'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { readEntityName } from '../../store/metrics/entity-name.ts'
import type { StatedUnits } from '../../store/metrics/stated-units.ts'
import { metricNamed } from './mapped-reading.ts'
import { type Mapping, readMapping, readUnits, type Target } from './mapping.ts'
import type { TimeFormat } from './times.ts'

export interface MappingOptions {
  preset: PresetName | undefined
  mapping: Mapping
  /** Units of metrics that the file does not state. */
  units: StatedUnits
  /** The zone of times without one. */
  zone: string | undefined
  /** Resolves a repeated hour if the order of the lines does not. */
  ambiguous: AmbiguousHour | undefined
  /** All cells of the file decide if it is undefined. */
  decimal: DecimalMark | undefined
  /** The unit of the times of line protocol. */
  precision: Precision
}

export const ambiguousHours = ['earlier', 'later'] as const
type AmbiguousHour = (typeof ambiguousHours)[number]

export interface MappingWords {
  preset?: PresetName
  map?: string[]
  unit?: string[]
  zone?: string
  ambiguous?: AmbiguousHour
  decimal?: DecimalMark
  precision?: Precision
}

/** Throws a CommandError. */
export function mappingOptions(words: MappingWords): MappingOptions {
  const { preset, map = [], unit = [], zone, ambiguous, decimal, precision = 'ns' } = words
  return { preset, mapping: readMapping(map), units: readUnits(unit), zone, ambiguous, decimal, precision }
}

export const noMapping = mappingOptions({})

/** True if the options state something about the columns or the times of a table. */
export function isMapped({ preset, mapping, units, zone }: MappingOptions): boolean {
  return preset !== undefined || mapping.size > 0 || units.size > 0 || zone !== undefined
}

export function layoutOf({ preset }: MappingOptions): Layout {
  return preset === undefined ? ownLayout : presets[preset]
}

/** The columns that may hold a field, the best first. */
type Candidates = Readonly<Partial<Record<Target, readonly string[]>>>

/** Layouts of the files that other programs write. Names of columns are in lower case and without their units. */
export interface Series {
  readonly metric: string
  /** Undefined for a series without a device in its name. */
  readonly device: string | undefined
}

/** Each line has one value, and a column names its metric. */
interface LongColumns {
  readonly series: readonly string[]
  readonly value: readonly string[]
  readonly unit: readonly string[]
  /** Undefined for a series without a metric. */
  readonly seriesOf: (name: string) => Series | undefined
}

export interface Layout {
  readonly timeFormat: TimeFormat
  readonly columns: Candidates
  /** Metrics by the names of other columns. Columns that are not listed get their name in the catalogue, or keep their own. */
  readonly others?: Readonly<Record<string, string>>
  /** Names of columns that hold no metric. */
  readonly noMetrics?: readonly string[]
  /** A file that has these columns has one value a line. */
  readonly long?: LongColumns
  /** Has lines that begin with # and several tables, each with its header behind an empty line. */
  readonly isAnnotated?: boolean
}

/** The name is a metric, or stands for one. */
function byName(name: string): Series | undefined {
  const metric = name === 'relativehumidity' ? 'humidity' : metricNamed(name)
  return metric === undefined ? undefined : { metric, device: undefined }
}

/** `sensor.porch_temperature` is the temperature of `porch`. */
function byEntity(entity: string): Series | undefined {
  const name = readEntityName(entity.slice(entity.indexOf('.') + 1))
  return name?.device === undefined ? undefined : name
}

export function isState(metric: string): boolean {
  return catalogueEntry(metric)?.kind === 'state'
}

const ownLayout: Layout = {
  timeFormat: 'auto',
  columns: {
    timestamp: ['timestamp'],
    device: ['device'],
    temperature: ['temperature'],
    humidity: ['humidity'],
    pressure: ['pressure'],
    battery_voltage: ['battery_voltage', 'battery voltage'],
    battery_percentage: ['battery_percentage', 'battery percentage'],
  },
}

const presets = {
  'home-assistant': {
    timeFormat: 'auto',
    columns: { timestamp: ['last_changed', 'start_ts', 'start', 'last_updated'] },
    long: {
      series: ['entity_id', 'statistic_id'],
      value: ['mean', 'state'],
      unit: ['unit_of_measurement'],
      seriesOf: byEntity,
    },
  },
  ecowitt: {
    timeFormat: 'auto',
    columns: {
      // Newer consoles write the moment too, in seconds of UTC.
      timestamp: ['timestamp', 'time'],
      temperature: ['outdoor temperature', 'outdoor temp'],
      humidity: ['outdoor humidity'],
      pressure: ['abs pressure', 'absolute pressure', 'rel pressure', 'relative pressure'],
    },
    others: {
      wind: 'wind_speed',
      gust: 'wind_gust',
      solar: 'solar_radiation',
      'solar rad': 'solar_radiation',
      uvi: 'uv_index',
      'uv-index': 'uv_index',
      'rain rate': 'rain_intensity',
      daily: 'rain_daily',
      event: 'rain_event',
      hourly: 'rain_hourly',
      weekly: 'rain_weekly',
      monthly: 'rain_monthly',
      yearly: 'rain_total',
    },
  },
  davis: {
    timeFormat: 'mdy',
    columns: {
      timestamp: ['date & time'],
      temperature: ['temp', 'outside temp', 'temp out'],
      humidity: ['hum', 'outside hum', 'out hum'],
      pressure: ['absolute pressure', 'abs pressure', 'barometer', 'bar'],
    },
    others: { 'solar rad': 'solar_radiation', 'high wind speed': 'wind_gust', 'avg wind speed': 'wind_speed' },
  },
  openaq: {
    timeFormat: 'auto',
    columns: { timestamp: ['datetime'], device: ['location'] },
    long: { series: ['parameter'], value: ['value'], unit: ['units'], seriesOf: byName },
  },
  influxdb: {
    timeFormat: 'auto',
    columns: { ...ownLayout.columns, timestamp: ['_time'] },
    long: { series: ['_field'], value: ['_value'], unit: [], seriesOf: byName },
    noMetrics: ['result', 'table', '_start', '_stop', '_measurement'],
    isAnnotated: true,
  },
} as const satisfies Record<string, Layout>

type PresetName = keyof typeof presets
export const presetNames = Object.keys(presets) as PresetName[]
