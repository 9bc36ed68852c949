/** `--map`: the source of each field of a reading (column, series or constant), and its unit. */

import { isMetricName } from '../../store/metrics/metric-name.ts'
import { readStatedUnits, type StatedUnits, unitProblem } from '../../store/metrics/stated-units.ts'
import { CommandError, exitUsage } from '../command-error.ts'
import { isTimeFormat, timeFormats } from './times.ts'

/** `timestamp`, `device`, or the name of a metric. */
export type Target = string

type Source =
  | {
      readonly kind: 'column'
      readonly name: string
      readonly unit: string | undefined
      /** The column of the time of day, or a fixed time. */
      readonly clock?: string | undefined
    }
  | { readonly kind: 'constant'; readonly text: string }

export type Mapping = ReadonlyMap<Target, Source>

/**
 * `temperature="Outdoor Temp(°F)":F,device==porch,timestamp=Date+Time:mdy`: parts that are separated by commas. A name
 * that has a comma, a colon, a quote or spaces at its ends stands in quotes, as does the name of a time with a plus
 * sign. A quote in it is written twice. Throws a CommandError.
 */
export function readMapping(texts: readonly string[]): Mapping {
  const mapping = new Map<Target, Source>()
  for (const text of texts) {
    const reader = new MapReader(text)
    do {
      const [target, source] = reader.part()
      if (mapping.has(target)) throw reader.error(`${target} is mapped twice`)
      mapping.set(target, source)
    } while (reader.takes(','))
    reader.end()
  }
  return mapping
}

/** A name as a mapping has it. */
export function quoted(name = ''): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Throws a CommandError. */
export function readUnits(texts: readonly string[]): StatedUnits {
  const all = texts.map(text => {
    const read = readStatedUnits(text)
    if (!read.ok) throw new CommandError(`--unit ${text}: ${read.reason}`, exitUsage)
    return [...read.units]
  })
  return new Map(all.flat())
}

export function isMetric(target: Target): boolean {
  return isMetricName(target)
}

class MapReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  part(): [Target, Source] {
    const target = this.#until('=').trim()
    if (target !== 'timestamp' && target !== 'device' && !isMetric(target)) {
      throw this.error(`"${target}" is neither timestamp, nor device, nor the name of a metric`)
    }
    if (!this.takes('=')) throw this.error(`= is missing behind ${target}`)
    if (this.takes('=')) return [target, { kind: 'constant', text: this.#name() }]
    return [target, this.#column(target)]
  }

  takes(character: string): boolean {
    const isThere = this.#text[this.#at] === character
    if (isThere) this.#at++
    return isThere
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.error(`"${this.#text.slice(this.#at)}" is too much`)
  }

  error(reason: string): CommandError {
    return new CommandError(`--map ${this.#text}: ${reason}`, exitUsage)
  }

  #column(target: Target): Source {
    const ends = target === 'timestamp' ? [':', ',', '+'] : [':', ',']
    const name = this.#name(ends)
    const clock = target === 'timestamp' && this.takes('+') ? this.#name(ends) : undefined
    const unit = this.takes(':') ? this.#until(',').trim() : undefined
    if (unit !== undefined) this.#checkUnit(target, unit)
    return { kind: 'column', name, unit, ...(clock === undefined ? {} : { clock }) }
  }

  #checkUnit(target: Target, unit: string): void {
    if (target === 'timestamp' && !isTimeFormat(unit)) {
      throw this.error(`the format of timestamp is one of ${timeFormats.join(', ')}`)
    }
    if (target === 'device') throw this.error('device has no unit')
    const problem = isMetric(target) ? unitProblem(target, unit) : undefined
    if (problem !== undefined) throw this.error(problem)
  }

  #name(ends: readonly string[] = [':', ',']): string {
    const name = this.takes('"') ? this.#quoted() : this.#until(...ends).trim()
    if (name === '') throw this.error('a name is missing')
    return name
  }

  #quoted(): string {
    let name = ''
    for (;;) {
      name += this.#until('"')
      if (!this.takes('"')) throw this.error('a quote is not closed')
      if (!this.takes('"')) return name
      name += '"'
    }
  }

  #until(...ends: string[]): string {
    const start = this.#at
    while (this.#at < this.#text.length && !ends.includes(this.#text[this.#at] as string)) this.#at++
    return this.#text.slice(start, this.#at)
  }
}
