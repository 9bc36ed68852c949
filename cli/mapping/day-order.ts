/** Finds out whether the dates of a file have the day or the month first. */

import { quoted } from './mapping.ts'
import type { TableColumns } from './table-columns.ts'
import { type DayOrder, dayPartsIn, type TimeFormat } from './times.ts'

const names = { mdy: 'month/day', dmy: 'day/month' } as const

export interface SettledDays {
  order?: DayOrder
  notice?: string
  question?: string
}

export class DayOrderSurvey {
  /** The first date of each kind, with its line. */
  readonly #found: Partial<Record<DayOrder | 'any' | 'equal', string>> = {}

  note(format: TimeFormat, text: string, line: number): void {
    if (format !== 'auto' && format !== 'mdy' && format !== 'dmy') return
    const kind = kindOf(format, text)
    if (kind !== undefined) this.#found[kind] ??= `${text} in line ${line}`
  }

  settle(columns: TableColumns, preset: string | undefined): SettledDays {
    const { mdy, dmy } = this.#found
    if (mdy !== undefined && dmy !== undefined) {
      return { question: `the day comes first in ${dmy}, and the month in ${mdy}; import the lines of each as a file` }
    }
    if (mdy !== undefined) return decided('mdy', mdy, columns)
    if (dmy !== undefined) return decided('dmy', dmy, columns)
    return this.#undecided(columns, preset)
  }

  #undecided(columns: TableColumns, preset: string | undefined): SettledDays {
    const { any, equal } = this.#found
    const usual = usualOrder(columns)
    if (any === undefined) return usual === undefined && equal === undefined ? {} : { order: usual ?? 'dmy' }
    if (usual === undefined) {
      const answers = `${flag(columns, 'mdy')} or ${flag(columns, 'dmy')}`
      return { question: `${any} can be ${names.mdy} or ${names.dmy}; say which with ${answers}` }
    }
    if (columns.isFormatGiven) return { order: usual }
    const reading = `dates such as ${any} are read as ${names[usual]}, the usual order of ${preset} files`
    return {
      order: usual,
      notice: `${reading}; ${flag(columns, usual === 'mdy' ? 'dmy' : 'mdy')} reads the other order`,
    }
  }
}

type DateKind = DayOrder | 'any' | 'equal' | undefined

function kindOf(format: TimeFormat, text: string): DateKind {
  const parts = dayPartsIn(text)
  if (parts === undefined) return undefined
  const { first, second, hasLongYear } = parts
  // The position of a short year is unknown to `auto`.
  if (format === 'auto' && !hasLongYear) return 'any'
  if (isMonth(first) && isMonth(second)) return first === second ? 'equal' : 'any'
  if (isMonth(second)) return 'dmy'
  return isMonth(first) ? 'mdy' : undefined
}

function isMonth(number: number): boolean {
  return number >= 1 && number <= 12
}

/** A mapping that contradicts the file is refused. A preset gives way. */
function decided(order: DayOrder, place: string, columns: TableColumns): SettledDays {
  const usual = usualOrder(columns)
  if (usual === undefined || usual === order) return { order }
  if (columns.isFormatGiven) return { question: `${place} is not ${names[usual]}; use ${flag(columns, order)}` }
  return { order, notice: `dates are read as ${names[order]}, because of ${place}` }
}

/** The day order of the mapping or the preset. */
function usualOrder({ timeFormat }: TableColumns): DayOrder | undefined {
  return timeFormat === 'mdy' || timeFormat === 'dmy' ? timeFormat : undefined
}

function flag({ names: header, timestamp, clock }: TableColumns, order: DayOrder): string {
  const time = clock === undefined ? '' : `+${quoted('text' in clock ? clock.text : header[clock.column])}`
  return `--map 'timestamp=${quoted(header[timestamp])}${time}:${order}'`
}
