/**
 * Lines of Home Assistant, one for each state of an entity: `°C,domain=sensor,entity_id=porch_temperature value=21.4`. The end of the
 * entity's name says which metric it is, the measurement in which unit it comes; its other fields are attributes.
 */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { readEntityName } from '../../store/metrics/entity-name.ts'
import type { Metric } from '../../store/metrics/metric.ts'
import { type Convert, conversion, signOf, unchanged } from '../../store/metrics/units.ts'
import { shortenedName } from '../field-names.ts'
import { invalid, type Problem } from './line-protocol-problem.ts'
import { nameEnd, unescapeText } from './line-protocol-text.ts'

/** A metric of the registry. Plain data, so that it can be handed to a thread. */
export interface EntityMetric extends Pick<Metric, 'name' | 'unit' | 'kind'> {
  /** The unit of values whose entity states none, where it is another one than that of the metric. */
  readonly assumedUnit?: string | undefined
}

export interface Entity {
  /** As Home Assistant has it, for reasons: `sensor.porch_temperature`. */
  readonly id: string
  /** Undefined where its name is that of a metric, or ends with none. */
  readonly device: string | undefined
  /** Undefined where its name ends with none. */
  readonly metric: EntityMetric | undefined
  /** Whether the body has an entity of the battery of its device. */
  readonly isBesideBattery: boolean
  /** From the unit of the measurement to that of the metric. */
  readonly convert: Convert
  /** The unit that its values are taken for, as people read it; undefined where the entity or the setting states one. */
  readonly assumed: string | undefined
  /** Of the unit. */
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
    // Without a unit of the metric, whatever unit is stated is that of its values.
    const from = isUnit(measurement, domain, id) ? measurement : metric?.assumedUnit
    const to = metric?.unit ?? null
    if (to === null) return entity
    if (from === undefined) return { ...entity, assumed: signOf(to) }
    const converted = conversion(shortenedName(from), to)
    if (converted.ok) return { ...entity, convert: converted.convert }
    return { ...entity, problem: invalid(`entity ${entity.id}: ${converted.reason}`) }
  }
}

/** What its documentation suggests for entities without a unit. */
const defaultMeasurements = new Set(['units', 'state'])

/** False for what Home Assistant calls the measurement of an entity without a unit, or with another `measurement_attr`. */
function isUnit(measurement: string, domain: string, id: string): boolean {
  const isName = measurement === id || measurement === domain || measurement.startsWith(`${domain}__`)
  return !isName && !defaultMeasurements.has(measurement)
}

/** There where the measurement is not the unit. */
const unitField = 'unit_of_measurement_str'

/** The fields of one line of an entity, in whatever order they come. */
export class EntityLine {
  /** NaN for a state that is a text alone. */
  #value = Number.NaN
  #isInWords = false
  #hasUnitField = false

  clear(): void {
    this.#value = Number.NaN
    this.#isInWords = false
    this.#hasUnitField = false
  }

  /** NaN for a text. */
  note(field: string, value: number): Problem | undefined {
    if (field === 'value') {
      if (Number.isNaN(value)) return invalid('value must be a number')
      this.#value = value
    } else if (field === 'state') this.#isInWords = true
    else if (field === unitField) this.#hasUnitField = true
    return undefined
  }

  /** The value in the unit of the metric; NaN where there is none. */
  valueOf({ metric, convert, id }: Entity): number | Problem {
    if (Number.isNaN(this.#value) || metric === undefined) return this.#value
    if (this.#hasUnitField && metric.unit !== null) {
      return invalid(`entity ${id} has its unit in a field: measurement_attr must be unit_of_measurement`)
    }
    const value = convert(this.#value)
    return Number.isFinite(value) ? value : invalid(`entity ${id} has a value that is too large`)
  }

  /** A state in words, such as `on`, that comes with a number is no value of a metric that measures something. */
  isOf({ metric }: Entity): boolean {
    return metric !== undefined && (!this.#isInWords || metric.kind === 'state')
  }
}

/** Entities of a device that have changed together are told one after the other, some milliseconds apart. */
const reportMs = 1000

interface Report {
  readonly timeMs: number
  readonly metrics: Set<string>
}

/** What a device has reported at a time: lines of a body less than a second behind the first one, each of another metric. */
export class EntityReports {
  /** The last of each device. */
  readonly #reports = new Map<number, Report>()

  /** The time of the report of which the line is a part. */
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
