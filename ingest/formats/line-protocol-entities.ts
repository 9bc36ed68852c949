/**
 * Lines of Home Assistant, one for each state of an entity: `°C,domain=sensor,entity_id=porch_temperature value=21.4`. The end of
 * the entity's name gives the metric and the measurement its unit. Other fields are attributes.
 */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { readEntityName } from '../../store/metrics/entity-name.ts'
import type { Metric } from '../../store/metrics/metric.ts'
import { type Convert, conversion, signOf, unchanged } from '../../store/metrics/units.ts'
import { shortenedName } from '../field-names.ts'
import { nameEnd, unescapeText } from './line-protocol-text.ts'
import { invalid, type Problem } from './reject.ts'

/** A metric of the registry. Plain data, so that it can be posted to a thread. */
export interface EntityMetric extends Pick<Metric, 'name' | 'unit' | 'kind'> {
  /** Unit for entities without one, where it differs from the metric's unit. */
  readonly assumedUnit?: string | undefined
}

export interface Entity {
  /** Reasons use Home Assistant's form: `sensor.porch_temperature`. */
  readonly id: string
  /** Undefined where the whole name is a metric, or its end does not match one. */
  readonly device: string | undefined
  /** Undefined where the end of the name does not match a metric. */
  readonly metric: EntityMetric | undefined
  /** True when the body has a battery entity of the same device. */
  readonly isBesideBattery: boolean
  /** Converts the measurement's unit to the metric's unit. */
  readonly convert: Convert
  /** Assumed unit of its values, as people read it. Undefined where the entity or the setting states one. */
  readonly assumed: string | undefined
  /** Fault of the unit. */
  readonly problem: Problem | undefined
}

/** `object` is the tag `entity_id`, the name without its domain. */
export type EntityOf = (measurement: string, domain: string, object: string) => Entity

export const entityTags = { domain: 'domain', object: 'entity_id' } as const

const objectTag = Buffer.from(`,${entityTags.object}=`)
const batteryPart = '_batt'

/** Devices with an entity such as `porch_battery` or `porch_battery_low` in a body. */
function batteryDevicesIn(body: Buffer): ReadonlySet<string> {
  const devices = new Set<string>()
  for (let at = body.indexOf(objectTag); at !== -1; at = body.indexOf(objectTag, at + 1)) {
    const start = at + objectTag.length
    const object = unescapeText(body, start, nameEnd(body, start, body.length), 'name')
    const end = object.indexOf(batteryPart)
    if (end > 0) devices.add(object.slice(0, end))
  }
  return devices
}

/** `registered`: the metrics of the registry. */
export function createEntityReader(registered: readonly EntityMetric[], body: Buffer): EntityOf {
  let batteryDevices: ReadonlySet<string> | undefined
  const isBesideBattery = (device: string | undefined) => {
    batteryDevices ??= batteryDevicesIn(body)
    return device !== undefined && batteryDevices.has(device)
  }
  const byName = new Map(registered.map(metric => [metric.name, metric]))
  const isMetric = (name: string) => byName.has(name)

  return (measurement, domain, object) => {
    const id = `${domain}.${object}`
    const name = readEntityName(object, isMetric)
    const metric: EntityMetric | undefined =
      name === undefined ? undefined : (byName.get(name.metric) ?? catalogueEntry(name.metric))
    const entity = {
      id: shortenedName(id),
      device: name?.device,
      metric,
      isBesideBattery: metric?.name === 'voltage' && isBesideBattery(name?.device),
      convert: unchanged,
      assumed: undefined,
      problem: undefined,
    }
    // For a metric without a unit, any stated unit is the unit of its values.
    const from = isUnit(measurement, domain, id) ? measurement : metric?.assumedUnit
    const to = metric?.unit ?? null
    if (to === null) return entity
    if (from === undefined) return { ...entity, assumed: signOf(to) }
    const converted = conversion(shortenedName(from), to)
    if (converted.ok) return { ...entity, convert: converted.convert }
    return { ...entity, problem: invalid(`entity ${entity.id}: ${converted.reason}`) }
  }
}

/** Default measurements suggested by its documentation for entities without a unit. */
const defaultMeasurements = new Set(['units', 'state'])

/** False for Home Assistant's default measurements of an entity without a unit, or with another `measurement_attr`. */
function isUnit(measurement: string, domain: string, id: string): boolean {
  const isName = measurement === id || measurement === domain || measurement.startsWith(`${domain}__`)
  return !isName && !defaultMeasurements.has(measurement)
}

/** Field with the unit where the measurement is not the unit. */
const unitField = 'unit_of_measurement_str'

/** The fields of one line of an entity, in any order. */
export class EntityLine {
  /** NaN for a state that is only a text. */
  #value = Number.NaN
  #isInWords = false
  #hasUnitField = false

  clear(): void {
    this.#value = Number.NaN
    this.#isInWords = false
    this.#hasUnitField = false
  }

  /** `value` is NaN for a text. */
  note(field: string, value: number): Problem | undefined {
    if (field === 'value') {
      if (Number.isNaN(value)) return invalid('value must be a number')
      this.#value = value
    } else if (field === 'state') this.#isInWords = true
    else if (field === unitField) this.#hasUnitField = true
    return undefined
  }

  /** The value in the unit of the metric; NaN without one. */
  valueOf({ metric, convert, id }: Entity): number | Problem {
    if (Number.isNaN(this.#value) || metric === undefined) return this.#value
    if (this.#hasUnitField && metric.unit !== null) {
      return invalid(`entity ${id} has its unit in a field: measurement_attr must be unit_of_measurement`)
    }
    const value = convert(this.#value)
    return Number.isFinite(value) ? value : invalid(`entity ${id} has a value that is too large`)
  }

  /** A state in words, such as `on`, with a number is not a value of a measuring metric. */
  isOf({ metric }: Entity): boolean {
    return metric !== undefined && (!this.#isInWords || metric.kind === 'state')
  }
}

/** Home Assistant writes entities of a device that change together one after the other, some milliseconds apart. */
const reportMs = 1000

interface Report {
  readonly timeMs: number
  readonly metrics: Set<string>
}

/** A device's values of one time: lines of a body less than a second after the first one, each of another metric. */
export class EntityReports {
  /** The last report of each device. */
  readonly #reports = new Map<number, Report>()

  /** Time of the report that contains the line. */
  timeOf(device: number, { metric }: Entity, timeMs: number): number {
    const name = metric?.name ?? ''
    const report = this.#reports.get(device)
    if (report !== undefined && isPart(report, timeMs) && !report.metrics.has(name)) {
      report.metrics.add(name)
      return report.timeMs
    }
    this.#reports.set(device, { timeMs, metrics: new Set([name]) })
    return timeMs
  }
}

function isPart(report: Report, timeMs: number): boolean {
  return timeMs >= report.timeMs && timeMs < report.timeMs + reportMs
}
