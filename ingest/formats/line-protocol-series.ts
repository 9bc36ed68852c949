/** The series of a line, measurement and tags, which determines the device and the names of the fields. */

import type { KnownLines, KnownSeries } from './known-names.ts'
import {
  createEntityReader,
  type Entity,
  type EntityMetric,
  type EntityOf,
  entityTags,
} from './line-protocol-entities.ts'
import { createFieldTables, type FieldTable, type LineNames } from './line-protocol-names.ts'
import { byteOf, measurementEnd, nameEnd, unescapeText } from './line-protocol-text.ts'
import { NameIndex } from './name-index.ts'
import { invalid, type Problem } from './reject.ts'
import { deviceNameProblem } from './row-kinds.ts'

interface Series {
  /** Index into the names of the body; -1 for a problem, or for an entity without a metric. */
  device: number
  fields: FieldTable
  /** Set for a line of Home Assistant. */
  entity: Entity | undefined
  problem: Problem | undefined
}

const tagsMax = 256

interface SeriesOptions {
  names: LineNames
  /** Device of lines without the first of the device tags. Other device tags are then ignored. */
  deviceDefault: string | undefined
  /** The metrics of the registry. With them, lines with Home Assistant's tags are read as entities. */
  entityMetrics?: readonly EntityMetric[] | undefined
  /** The thread's cache of lines read with the same `names`. */
  knownLines?: KnownLines | undefined
}

/** The series of a body. A new series is parsed once, a known one never. */
export class SeriesReader {
  /** The distinct devices so far. */
  readonly devices: NameIndex
  readonly #bytes: Buffer
  readonly #deviceTags: readonly string[]
  /** Device tags and further tags that identify the device. */
  readonly #tags: readonly string[]
  readonly #entityOf: EntityOf | undefined
  readonly #deviceDefault: string | undefined
  readonly #fieldsOf: (measurement: string) => FieldTable
  readonly #knownLines: KnownLines | undefined
  /** Series that the cache did not contain. */
  readonly #own = new Map<string, Series>()
  /** Reused for series from the cache. */
  readonly #found: Series
  /** Value of each tag in the current line. */
  readonly #values: (string | undefined)[]

  constructor(bytes: Buffer, { names, deviceDefault, entityMetrics, knownLines }: SeriesOptions) {
    this.#bytes = bytes
    this.devices = new NameIndex(knownLines?.names)
    // The default device of a credential changes the meaning of a series.
    this.#knownLines = deviceDefault === undefined ? knownLines : undefined
    this.#deviceTags = names.deviceTags
    this.#entityOf = entityMetrics && createEntityReader(entityMetrics, bytes)
    const entity = entityMetrics === undefined ? [] : Object.values(entityTags)
    this.#tags = [...new Set([...names.deviceTags, ...entity])]
    this.#deviceDefault = deviceDefault
    this.#fieldsOf = knownLines?.fieldsOf ?? createFieldTables(names)
    this.#found = { device: -1, fields: this.#fieldsOf(''), entity: undefined, problem: undefined }
    this.#values = this.#tags.map(() => undefined)
  }

  /** Valid until the next call. */
  read(start: number, end: number): Series {
    const known = this.#knownLines?.find(this.#bytes, start, end)
    if (known !== undefined) return this.#take(known)
    const key = this.#bytes.toString('latin1', start, end)
    const own = this.#own.get(key)
    if (own !== undefined) return own
    const series = this.#parse(start, end)
    this.#own.set(key, series)
    return series
  }

  #take({ place, fields }: KnownSeries): Series {
    this.#found.device = this.devices.indexOfKnown(place)
    this.#found.fields = fields
    return this.#found
  }

  #parse(start: number, end: number): Series {
    const bytes = this.#bytes
    const tagsAt = measurementEnd(bytes, start, end)
    const measurement = unescapeText(bytes, start, tagsAt, 'measurement')
    const fields = this.#fieldsOf(measurement)
    this.#values.fill(undefined)
    const none = { device: -1, fields, entity: undefined }
    const malformed = tagsAt === start ? 'has no measurement' : this.#readTags(tagsAt, end)
    if (malformed !== undefined) return { ...none, problem: { code: 'LINE_MALFORMED', reason: malformed } }
    const entity = this.#entity(measurement)
    if (entity?.problem !== undefined) return { ...none, problem: entity.problem }
    if (entity !== undefined && entity.metric === undefined) return { ...none, entity, problem: undefined }
    const name = this.#deviceName(entity)?.normalize('NFC')
    const wrong = deviceNameProblem(name)
    if (name === undefined) return { ...none, problem: invalid(this.#missingReason(entity)) }
    if (wrong !== undefined) return { ...none, problem: invalid(`device ${wrong}`) }
    const known = this.#knownLines?.names.findText(name) ?? -1
    if (known === -1) return { device: this.devices.indexOf([name]), fields, entity, problem: undefined }
    // The registry of metrics determines entities, so they are not cached.
    if (entity === undefined) this.#knownLines?.add(bytes, start, end, { place: known, fields })
    return { device: this.devices.indexOfKnown(known), fields, entity, problem: undefined }
  }

  #entity(measurement: string): Entity | undefined {
    if (this.#entityOf === undefined) return undefined
    const [domain, object] = [this.#valueOf(entityTags.domain), this.#valueOf(entityTags.object)]
    return domain === undefined || object === undefined ? undefined : this.#entityOf(measurement, domain, object)
  }

  #valueOf(tag: string): string | undefined {
    return this.#values[this.#tags.indexOf(tag)]
  }

  #missingReason(entity: Entity | undefined): string {
    if (entity !== undefined) return `entity ${entity.id} names no device`
    return `tag ${this.#deviceTags.join(' or ')} is required`
  }

  /**
   * A tag such as Telegraf's `host` is in every line, so a credential's device takes precedence over it. An entity names its own
   * device.
   */
  #deviceName(entity: Entity | undefined): string | undefined {
    const [first] = this.#values
    if (entity !== undefined) return first ?? entity.device ?? this.#deviceDefault
    const values = this.#values.slice(0, this.#deviceTags.length)
    return first ?? this.#deviceDefault ?? values.find(value => value !== undefined)
  }

  /** Reads the tags' values. Returns a sentence for invalid tags. */
  #readTags(start: number, end: number): string | undefined {
    const bytes = this.#bytes
    let count = 0
    for (let at = start; at < end; ) {
      const nameAt = at + 1
      const equalsAt = nameEnd(bytes, nameAt, end)
      const valueAt = equalsAt + 1
      const valueEnd = nameEnd(bytes, valueAt, end)
      if (equalsAt === nameAt || bytes[equalsAt] !== byteOf.equals) return 'has a tag without a name or a value'
      if (valueEnd <= valueAt) return 'has a tag without a value'
      if (valueEnd < end && bytes[valueEnd] === byteOf.equals) return 'has a tag with an equals sign in its value'
      if (++count > tagsMax) return `has more than ${tagsMax} tags`
      const problem = this.#noteTag(unescapeText(bytes, nameAt, equalsAt, 'name'), valueAt, valueEnd)
      if (problem !== undefined) return problem
      at = valueEnd
    }
    return undefined
  }

  #noteTag(name: string, valueAt: number, valueEnd: number): string | undefined {
    const tag = this.#tags.indexOf(name)
    if (tag === -1) return undefined
    if (this.#values[tag] !== undefined) return `has the tag ${name} twice`
    this.#values[tag] = unescapeText(this.#bytes, valueAt, valueEnd, 'name')
    return undefined
  }
}
