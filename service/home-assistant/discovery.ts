/**
 * Messages by which Home Assistant finds a device (home-assistant.io/integrations/mqtt): a configuration for each metric, a state
 * with all values, and the availability. All are retained. The state's keys are the metrics that have a configuration, so a
 * later run of the service can remove them.
 */

import type { PublishedMessage } from '../../ingest/mqtt/broker-session.ts'
import type { Metric } from '../../store/metrics/metric.ts'
import { signOf } from '../../store/metrics/units.ts'
import { packageVersion } from '../../store/version.ts'

type ShownMetric = Pick<Metric, 'name' | 'title' | 'unit' | 'kind' | 'decimals' | 'max'>

export interface DiscoveredDevice {
  readonly symbol: string
  readonly name: string
  readonly metrics: readonly ShownMetric[]
  /** Keys are names of metrics. Null without a present value. */
  readonly values: Readonly<Record<string, number | null>>
  readonly isAvailable: boolean
  /** Page of the device. */
  readonly url: string | undefined
}

/** `prefix`: level of topics and beginning of identifiers that no other service at the broker has. */
export interface Topics {
  readonly status: string
  /** Filter of all states. */
  readonly states: string
  state(symbol: string): string
  availability(symbol: string): string
  symbolOf(stateTopic: string): string
  configs(symbol: string, metric: string): readonly string[]
  id(symbol: string): string
}

export function topicsOf(prefix: string): Topics {
  const id = (symbol: string) => `${prefix}_${symbol}`
  return {
    status: `${prefix}/status`,
    states: `${prefix}/devices/+`,
    state: symbol => `${prefix}/devices/${symbol}`,
    availability: symbol => `${prefix}/devices/${symbol}/availability`,
    symbolOf: topic => topic.slice(topic.lastIndexOf('/') + 1),
    configs: (symbol, metric) => platforms.map(platform => `homeassistant/${platform}/${id(symbol)}/${metric}/config`),
    id,
  }
}

const version = packageVersion()
const platforms = ['sensor', 'binary_sensor'] as const

export function stateMessages(topics: Topics, { symbol, values, isAvailable }: DiscoveredDevice): PublishedMessage[] {
  return [
    retained(topics.state(symbol), JSON.stringify(values)),
    retained(topics.availability(symbol), isAvailable ? 'online' : 'offline'),
  ]
}

export function configMessages(topics: Topics, device: DiscoveredDevice): PublishedMessage[] {
  return device.metrics.map(metric => {
    const [sensor = '', binarySensor = ''] = topics.configs(device.symbol, metric.name)
    const topic = isBinary(metric) ? binarySensor : sensor
    return retained(topic, JSON.stringify(configOf(topics, device, metric)))
  })
}

/** Empty messages, which remove the entities of these metrics. */
export function removedConfigs(topics: Topics, symbol: string, metrics: readonly string[]): PublishedMessage[] {
  return metrics.flatMap(metric => topics.configs(symbol, metric)).map(topic => retained(topic, ''))
}

export function removedDevice(topics: Topics, symbol: string, metrics: readonly string[]): PublishedMessage[] {
  return [
    ...removedConfigs(topics, symbol, metrics),
    retained(topics.availability(symbol), ''),
    // The last one: it names the metrics, if this is interrupted.
    retained(topics.state(symbol), ''),
  ]
}

function retained(topic: string, payload: string): PublishedMessage {
  return { topic, payload, retain: true }
}

function isBinary({ kind, max }: ShownMetric): boolean {
  return kind === 'state' && max === 1
}

function configOf(topics: Topics, { symbol, name, url }: DiscoveredDevice, metric: ShownMetric): object {
  const id = topics.id(symbol)
  return {
    name: metric.title,
    unique_id: `${id}_${metric.name}`,
    state_topic: topics.state(symbol),
    value_template: `{{ value_json.${metric.name} }}`,
    ...(isBinary(metric) ? binaryClassOf(metric) : sensorClassOf(metric)),
    availability: [{ topic: topics.status }, { topic: topics.availability(symbol) }],
    availability_mode: 'all',
    device: {
      identifiers: [id],
      name,
      manufacturer: 'Barograph',
      ...(url !== undefined && { configuration_url: url }),
    },
    origin: { name: 'Barograph', sw_version: version },
  }
}

const binaryClasses: Readonly<Record<string, string>> = {
  door: 'door',
  window: 'window',
  motion: 'motion',
  leak: 'moisture',
  smoke: 'smoke',
}

function binaryClassOf({ name }: ShownMetric): object {
  const deviceClass = binaryClasses[name]
  return { payload_on: '1', payload_off: '0', ...(deviceClass !== undefined && { device_class: deviceClass }) }
}

/** Device classes that follow from the unit alone. */
const classesByUnit: Readonly<Record<string, string>> = {
  Cel: 'temperature',
  hPa: 'pressure',
  V: 'voltage',
  A: 'current',
  W: 'power',
  'V.A': 'apparent_power',
  'kW.h': 'energy',
  Hz: 'frequency',
  lx: 'illuminance',
  'W/m2': 'irradiance',
  'mm/h': 'precipitation_intensity',
  mm: 'precipitation',
  m: 'distance',
  cm: 'distance',
  km: 'distance',
  kg: 'weight',
  dB: 'sound_pressure',
  'dB[mW]': 'signal_strength',
  s: 'duration',
}

/** Device classes by metric; null for a metric that its unit would misname. */
const classesByMetric: Readonly<Record<string, string | null>> = {
  pressure: 'atmospheric_pressure',
  humidity: 'humidity',
  indoor_humidity: 'humidity',
  soil_moisture: 'moisture',
  battery_percentage: 'battery',
  co2: 'carbon_dioxide',
  co: 'carbon_monoxide',
  tvoc: 'volatile_organic_compounds_parts',
  pm1: 'pm1',
  pm25: 'pm25',
  pm10: 'pm10',
  air_quality_index: 'aqi',
  ph: 'ph',
  power_factor: 'power_factor',
  wind_speed: 'wind_speed',
  wind_gust: 'wind_speed',
  water_total: 'water',
  gas_total: 'gas',
  snr: null,
}

/** Units whose signs Home Assistant writes in another way; null for one that a class must not have. */
const unitSigns: Readonly<Record<string, string | null>> = { '[pH]': null, 'dB[mW]': 'dBm', dB: 'dB', '/min': 'rpm' }

const stateClasses: Readonly<Partial<Record<Metric['kind'], string>>> = {
  gauge: 'measurement',
  rate: 'measurement',
  counter: 'total_increasing',
}

const totals: ReadonlySet<string> = new Set(['energy', 'water', 'gas'])
/** May be totals and measurements. */
const either: ReadonlySet<string> = new Set(['precipitation', 'distance', 'duration', 'weight'])

function sensorClassOf({ name, unit, kind, decimals }: ShownMetric): object {
  const named = classesByMetric[name]
  const deviceClass = named === undefined ? classesByUnit[unit ?? ''] : named
  const sign = unit === null ? null : unitSigns[unit] === undefined ? signOf(unit) : unitSigns[unit]
  // Home Assistant refuses a measurement of a total, and a total of most other classes.
  const fits = deviceClass == null || either.has(deviceClass) || totals.has(deviceClass) === (kind === 'counter')
  const stateClass = fits ? stateClasses[kind] : undefined
  return {
    ...(deviceClass != null && { device_class: deviceClass }),
    ...(sign !== null && { unit_of_measurement: sign }),
    ...(stateClass !== undefined && { state_class: stateClass }),
    suggested_display_precision: decimals,
  }
}
