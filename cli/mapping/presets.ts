/** Layouts of the files that other programs write. Names of columns are in lower case and without their units. */

import type { Metric } from '../../store/tables.ts'
import type { Target } from './mapping.ts'
import type { TimeFormat } from './times.ts'

/** The columns that may hold a field, the best first. */
type Candidates = Readonly<Partial<Record<Target, readonly string[]>>>

export interface Series {
  readonly metric: Metric
  /** If the name of the series tells it. */
  readonly device: string | undefined
}

/** One value a line: which one, a column tells. */
interface LongColumns {
  readonly series: readonly string[]
  readonly value: readonly string[]
  readonly unit: readonly string[]
  /** Undefined for a series that is no metric. */
  readonly seriesOf: (name: string) => Series | undefined
}

export interface Layout {
  readonly timeFormat: TimeFormat
  readonly columns: Candidates
  /** A file that has these columns has one value a line. */
  readonly long?: LongColumns
  /** Has lines that begin with # and several tables, each with its header behind an empty line. */
  readonly isAnnotated?: boolean
}

const metricNames: Readonly<Record<string, Metric>> = {
  temperature: 'temperature',
  humidity: 'humidity',
  relativehumidity: 'humidity',
  pressure: 'pressure',
  battery_voltage: 'battery_voltage',
  battery_percentage: 'battery_percentage',
}

function byName(name: string): Series | undefined {
  const metric = Object.hasOwn(metricNames, name) ? metricNames[name] : undefined
  return metric === undefined ? undefined : { metric, device: undefined }
}

/** The longer ones first. */
const entityEndings: readonly (readonly [string, Metric])[] = [
  ['_battery_voltage', 'battery_voltage'],
  ['_battery_level', 'battery_percentage'],
  ['_temperature', 'temperature'],
  ['_humidity', 'humidity'],
  ['_pressure', 'pressure'],
  ['_voltage', 'battery_voltage'],
  ['_battery', 'battery_percentage'],
]

/** `sensor.porch_temperature` is the temperature of `porch`. */
function byEntity(entity: string): Series | undefined {
  const name = entity.slice(entity.indexOf('.') + 1)
  const ending = entityEndings.find(([text]) => name.endsWith(text) && name.length > text.length)
  return ending && { metric: ending[1], device: name.slice(0, -ending[0].length) }
}

export const ownLayout: Layout = {
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

export const presets = {
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
  },
  davis: {
    timeFormat: 'mdy',
    columns: {
      timestamp: ['date & time'],
      temperature: ['temp', 'outside temp', 'temp out'],
      humidity: ['hum', 'outside hum', 'out hum'],
      pressure: ['absolute pressure', 'abs pressure', 'barometer', 'bar'],
    },
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
    isAnnotated: true,
  },
} as const satisfies Record<string, Layout>

export type PresetName = keyof typeof presets
export const presetNames = Object.keys(presets) as PresetName[]
