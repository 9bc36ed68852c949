/**
 * Samples of remote writers as lines of line protocol, one for each sample, so that devices, metrics and values have the rules of
 * all bulk bodies.
 */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import type { Metric } from '../../store/metrics/metric.ts'
import { metricNameOf } from '../../store/metrics/metric-name.ts'
import { type Convert, conversion, unchanged, unitOf } from '../../store/metrics/units.ts'
import { unknownFieldReason } from '../custom-fields.ts'
import { cleanDeviceName } from '../decoders/decode.ts'
import { shortenedName } from '../field-names.ts'
import { type Reject, RejectList } from '../formats/reject.ts'
import { deviceNameProblem } from '../formats/row-kinds.ts'

/** A metric of the registry. Plain data, so that it can be posted to a thread. */
export type KnownMetric = Pick<Metric, 'id' | 'name' | 'unit'>

export interface SampleOptions {
  /** All metrics of the registry, by which names and units are read. */
  metrics: readonly KnownMetric[]
  /** The same at present: a body that has made metrics is read again, with the names of the first time. */
  registered?: readonly KnownMetric[] | undefined
  /** Device of the credential, for samples that name none. */
  deviceDefault: string | undefined
  /** Limit of the listed rejects. */
  rejectsMax: number
}

/** Names of a series as its sender has them. */
export interface SentSeries {
  /** The device by its own name. */
  readonly device: string | undefined
  /** Another name that counts where neither the sender nor its credential names a device. */
  readonly origin: string | undefined
  readonly name: string
  /** Unit of the values, if the sender states it. */
  readonly unit?: string | undefined
  /** Values of further labels, which distinguish series of one name. */
  readonly labels: readonly string[]
}

export interface SampledLines {
  readonly lines: Buffer
  /** Counted from 1. */
  readonly deviceOfLine: (line: number) => string | undefined
  /** Samples that became no line, and the first of them with their reasons. */
  readonly rejected: number
  readonly rejects: Reject[]
  /** Parts of histograms and summaries, which are left out. */
  readonly ignored: number
}

/** A body with more is refused as too long. Prometheus sends 2,000 at a time, and collectors 8,192. */
export const samplesMax = 100_000
const labelsMax = 32
/** A longer name cannot match a metric. */
const fieldLengthMax = 64
/** Readings of one device and millisecond differ by these microseconds. */
const slots = 1000

interface Target {
  readonly device: string | undefined
  readonly field: string
  readonly metric: number
  readonly convert: Convert
}

export class SampleLines {
  ignored = 0
  readonly #deviceDefault: string | undefined
  readonly #find: (name: string) => Named | undefined
  readonly #numberOf: ReadonlyMap<string, number>
  readonly #rejects: RejectList
  readonly #targets: Target[] = []
  readonly #timesMs: number[] = []
  readonly #values: number[] = []
  /** Lowest number of the metrics of each device and time. */
  readonly #firstMetrics = new Map<string, number>()

  constructor({ metrics, registered = metrics, deviceDefault, rejectsMax }: SampleOptions) {
    this.#deviceDefault = deviceDefault
    this.#find = createMetricFinder(metrics)
    this.#numberOf = new Map(registered.map(({ name, id }) => [name, id]))
    this.#rejects = new RejectList('device', rejectsMax)
  }

  isFull(): boolean {
    return this.#targets.length + this.#rejects.count + this.ignored > samplesMax
  }

  /** Undefined for a series whose samples are rejected. */
  targetOf(sent: SentSeries, samples: number): Target | undefined {
    const found = this.#read(sent)
    if (typeof found !== 'string') return found
    this.reject(found, samples, sent.device ?? sent.origin)
    return undefined
  }

  reject(reason: string, samples: number, device?: string): void {
    if (samples === 0) return
    this.#rejects.add(0, device && shortenedName(device), 'READING_INVALID', reason)
    this.#rejects.count += samples - 1
  }

  /** A time of 0 is the time of receipt. NaN is the mark of an ended series, or of a missing value. */
  add(target: Target, timeMs: number, value: number): void {
    if (Number.isNaN(value)) return
    const converted = target.convert(value)
    if (!Number.isFinite(converted)) {
      this.reject(`${target.field} must be a finite number`, 1, target.device)
      return
    }
    this.#targets.push(target)
    this.#timesMs.push(timeMs)
    this.#values.push(converted)
    const key = `${timeMs} ${target.device}`
    const first = this.#firstMetrics.get(key)
    if (first === undefined || target.metric < first) this.#firstMetrics.set(key, target.metric)
  }

  take(): SampledLines {
    const lines = Buffer.from(this.#targets.map((target, at) => this.#line(target, at)).join(''))
    const deviceOfLine = (line: number) => this.#targets[line - 1]?.device
    const rejected = this.#rejects.count
    return { lines, deviceOfLine, rejected, rejects: this.#rejects.listed, ignored: this.ignored }
  }

  /**
   * Senders split the series of a device over bodies, and a reading replaces the earlier one of its device and time. So the time
   * has the number of a metric as microseconds: readings of different metrics differ, and a repeated body replaces itself.
   */
  #line({ device, field }: Target, at: number): string {
    const timeMs = this.#timesMs[at] as number
    const tag = device === undefined ? '' : `,device=${escaped(device)}`
    const line = `s${tag} ${escaped(field)}=${this.#values[at]}`
    if (timeMs === 0) return `${line}\n`
    const slot = (this.#firstMetrics.get(`${timeMs} ${device}`) ?? 0) % slots
    return `${line} ${timeMs * 1000 + slot}\n`
  }

  #read({ device, origin, name, unit, labels }: SentSeries): Target | string {
    const sent = device ?? (this.#deviceDefault === undefined ? origin : undefined)
    if (sent === undefined && this.#deviceDefault === undefined) {
      return `${shortenedName(name)} names no device: add a label device`
    }
    const target = sent === undefined ? undefined : cleanDeviceName(sent)
    const fault = target === undefined ? undefined : (deviceNameProblem(target) ?? controlFault(target))
    if (fault !== undefined) return `device ${fault}`
    if (labels.length > labelsMax) return `${shortenedName(name)} has more than ${labelsMax} labels`
    const known = this.#metricOf(name, unit)
    if (typeof known === 'string') return known
    const sentField = [known.field, ...labels].join('_')
    if (sentField.length > fieldLengthMax) return unknownFieldReason(sentField)
    if (controlFault(sentField) !== undefined) return 'a name has control characters'
    const field = metricNameOf(sentField) ?? sentField
    // A metric that is not registered yet has a number beyond all others.
    const metric = this.#numberOf.get(field) ?? Number.MAX_SAFE_INTEGER
    return { device: target, field, metric, convert: known.convert }
  }

  #metricOf(name: string, unit: string | undefined): { field: string; convert: Convert } | string {
    const metric = this.#find(name)
    if (metric === undefined) return this.#byUnitInName(name) ?? { field: name, convert: unchanged }
    const field = metric.name
    if (metric.unit === null || unit === undefined) return { field, convert: unchanged }
    const found = conversion(unit, metric.unit)
    return found.ok ? { field, convert: found.convert } : `${shortenedName(name)}: ${found.reason}`
  }

  /** Prometheus has the unit at the end of a name: `temperature_celsius`, `energy_joules_total`. */
  #byUnitInName(name: string): { field: string; convert: Convert } | undefined {
    const plain = name.endsWith('_total') ? name.slice(0, -'_total'.length) : name
    const at = plain.lastIndexOf('_')
    const unit = unitOfWord(plain.slice(at + 1))
    const metric = at > 0 && unit !== undefined ? this.#find(plain.slice(0, at)) : undefined
    if (metric === undefined || metric.unit === null || unit === undefined) return undefined
    const found = conversion(unit, metric.unit)
    return found.ok ? { field: metric.name, convert: found.convert } : undefined
  }
}

type Named = Pick<KnownMetric, 'name' | 'unit'>

/** `pascals` and `pascal` are one unit. */
function unitOfWord(word: string): string | undefined {
  if (unitOf(word) !== undefined) return word
  return word.endsWith('s') && unitOf(word.slice(0, -1)) !== undefined ? word.slice(0, -1) : undefined
}

/** Metrics are found by name, another spelling, or an alias of the catalogue. */
function createMetricFinder(metrics: readonly KnownMetric[]): (name: string) => Named | undefined {
  const byName = new Map(metrics.map(metric => [metric.name, metric]))
  const found = new Map<string, Named | undefined>()
  const find = (sent: string): Named | undefined => {
    const known = byName.get(sent)
    const name = known === undefined ? metricNameOf(sent) : undefined
    if (name === undefined) return known
    const entry = catalogueEntry(name)
    return byName.get(name) ?? byName.get(entry?.name ?? '') ?? entry
  }
  return name => {
    if (!found.has(name)) found.set(name, find(name))
    return found.get(name)
  }
}

const control = /[\p{Cc}\u2028\u2029]/u

function controlFault(text: string): string | undefined {
  return control.test(text) ? 'must have no control characters' : undefined
}

/** Escapes tags and fields in line protocol. */
function escaped(text: string): string {
  return text.replace(/[,= \\]/g, String.raw`\$&`)
}
