/** The series of a line: measurement and tags, from which follow the device and what the fields are called. */

import { ByteKeys } from './byte-keys.ts'
import { deviceNameProblem } from './device-name.ts'
import { createFieldTables, type FieldTable, type LineNames } from './line-protocol-names.ts'
import type { Problem } from './line-protocol-problem.ts'
import { byteOf, measurementEnd, nameEnd, unescapeText } from './line-protocol-text.ts'

export interface Series {
  /** Index into the names of the body; -1 where there is a problem. */
  device: number
  fields: FieldTable
  problem: Problem | undefined
}

const tagsMax = 256

export interface SeriesOptions {
  names: LineNames
  /** Whose readings are in lines without the first of the device tags: the others do not count then. */
  deviceDefault: string | undefined
}

/** The series of a body, each of which is read once. */
export class SeriesReader {
  /** The distinct devices so far. */
  readonly deviceNames: string[] = []
  readonly #bytes: Buffer
  readonly #deviceTags: readonly string[]
  readonly #deviceDefault: string | undefined
  readonly #fieldsOf: (measurement: string) => FieldTable
  readonly #known: ByteKeys<Series>
  readonly #make = (start: number, end: number) => this.#parse(start, end)
  readonly #indexes = new Map<string, number>()
  /** Of each device tag the value in the line at hand. */
  readonly #values: (string | undefined)[]

  constructor(bytes: Buffer, linesExpected: number, { names, deviceDefault }: SeriesOptions) {
    this.#bytes = bytes
    this.#deviceTags = names.deviceTags
    this.#deviceDefault = deviceDefault
    this.#fieldsOf = createFieldTables(names)
    this.#known = new ByteKeys(bytes, 2 * linesExpected)
    this.#values = names.deviceTags.map(() => undefined)
  }

  read(start: number, end: number): Series {
    return this.#known.get(start, end, this.#make)
  }

  #parse(start: number, end: number): Series {
    const bytes = this.#bytes
    const tagsAt = measurementEnd(bytes, start, end)
    const fields = this.#fieldsOf(unescapeText(bytes, start, tagsAt, 'measurement'))
    this.#values.fill(undefined)
    const malformed = tagsAt === start ? 'has no measurement' : this.#readTags(tagsAt, end)
    if (malformed !== undefined) return { device: -1, fields, problem: { code: 'LINE_MALFORMED', reason: malformed } }
    const name = this.#deviceName()?.normalize('NFC')
    const wrong = deviceNameProblem(name)
    if (name !== undefined && wrong === undefined) return { device: this.#indexOf(name), fields, problem: undefined }
    const reason = name === undefined ? `tag ${this.#deviceTags.join(' or ')} is required` : `device ${wrong}`
    return { device: -1, fields, problem: { code: 'READING_INVALID', reason } }
  }

  /**
   * A tag such as Telegraf's `host` is in every line, and names a device only where nothing else does: a credential of one
   * device says it before.
   */
  #deviceName(): string | undefined {
    return this.#values[0] ?? this.#deviceDefault ?? this.#values.find(value => value !== undefined)
  }

  /** Keeps the values of the device tags; a sentence for tags that cannot be read. */
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
    const tag = this.#deviceTags.indexOf(name)
    if (tag === -1) return undefined
    if (this.#values[tag] !== undefined) return `has the tag ${name} twice`
    this.#values[tag] = unescapeText(this.#bytes, valueAt, valueEnd, 'name')
    return undefined
  }

  #indexOf(name: string): number {
    let index = this.#indexes.get(name)
    if (index === undefined) {
      index = this.deviceNames.push(name) - 1
      this.#indexes.set(name, index)
    }
    return index
  }
}
