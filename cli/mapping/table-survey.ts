/**
 * The first reading of a foreign table. All of its lines decide its decimal mark, the order of day and month, and which lines are of
 * the first and the second of a repeated hour. A question that they leave open ends the import before anything is stored.
 */

import { DecimalSurvey } from '../../ingest/formats/decimal-survey.ts'
import type { DecimalMark } from '../../ingest/formats/number.ts'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { CommandError, exitUsage } from '../command-error.ts'
import { printable } from '../output.ts'
import { quoted } from './mapping.ts'
import type { MappingOptions } from './mapping-options.ts'
import { RepeatedHours, type Turn } from './repeated-hours.ts'
import type { MappedSeries, TableColumns } from './table-columns.ts'
import { seriesIn, seriesKey, type TableRow, timeIn } from './table-lines.ts'
import {
  createLocalClock,
  createTimeReader,
  type DayOrder,
  dayOrders,
  dayPartsIn,
  isClock,
  isDateAlone,
  type MomentsOf,
  type TimeFormat,
} from './times.ts'
import { unitSignOf, unitsOf } from './units.ts'

/** The properties of a whole file. */
export interface SettledTable {
  readonly mark: DecimalMark | undefined
  readonly order: DayOrder | undefined
  /** Undefined without a zone. */
  readonly momentsOf: MomentsOf | undefined
  /** Called for the same rows in the same order as the survey was. */
  readonly turnOf: (series: string, localUs: number, lengthUs: number) => Turn
  readonly notices: readonly string[]
}

export class TableSurvey {
  readonly #options: MappingOptions
  readonly #momentsOf: MomentsOf | undefined
  readonly #hours = { mdy: new RepeatedHours(), dmy: new RepeatedHours() }
  readonly #decimals = new DecimalSurvey()
  readonly #days = new DayOrderSurvey()
  readonly #readers = new Map<TimeFormat, Record<DayOrder, ReturnType<typeof createTimeReader>>>()
  readonly #withoutUnit = new Set<string>()
  /** Keys are the reasons of questions, and values the questions. */
  readonly #questions = new Map<'zone' | 'clock', string>()
  #hasCommas = true
  #columns: TableColumns | undefined

  constructor(options: MappingOptions) {
    this.#options = options
    this.#momentsOf = options.zone === undefined ? undefined : createLocalClock(options.zone)
  }

  note(row: TableRow, line: number): void {
    const { columns, separator } = row.table
    if (columns !== this.#columns) {
      for (const metric of columns.withoutUnit) this.#withoutUnit.add(metric)
      this.#hasCommas &&= separator === ','
      this.#columns = columns
    }
    const series = seriesIn(row)
    if (series === undefined) return
    this.#noteValues(row, series.value, line)
    const text = timeIn(row)
    if (text === undefined) return
    if (columns.clock === undefined && isDateAlone(text)) this.#noteClock(row, text, line)
    this.#days.note(columns.timeFormat, text, line)
    this.#noteTime(columns.timeFormat, text, seriesKey(series))
  }

  #noteValues({ table: { columns }, cells }: TableRow, value: MappedSeries | undefined, line: number): void {
    const { values } = columns
    const noteCell = (column: number) => this.#decimals.note((cells[column] ?? '').trim(), line)
    if (values.kind === 'wide') {
      for (const { column } of values.metrics) noteCell(column)
      for (const { column } of values.others) noteCell(column)
      return
    }
    noteCell(values.value)
    const unit = value?.unit ?? (values.unit === undefined ? '' : (cells[values.unit] ?? '').trim())
    const { metric = '' } = value ?? {}
    // The catalogue bounds how many there are.
    if (unit === '' && catalogueEntry(metric) !== undefined && !this.#options.units.has(metric)) {
      this.#withoutUnit.add(metric)
    }
  }

  #noteClock({ table: { columns }, cells }: TableRow, date: string, line: number): void {
    if (this.#questions.has('clock')) return
    const column = columns.unnamed.find(each => isClock((cells[each] ?? '').trim()))
    if (column === undefined) return
    const [dates, clocks] = [quoted(columns.names[columns.timestamp]), quoted(columns.names[column])]
    const found = `line ${line} has the date ${date} without a time of day, and ${cells[column]?.trim()} in another column`
    const answer = `join them with --map 'timestamp=${dates}+${clocks}', or name a time of day: 'timestamp=${dates}+"12:00"'`
    this.#questions.set('clock', `${found}; ${answer}`)
  }

  #noteTime(format: TimeFormat, text: string, series: string): void {
    const readers = this.#readersOf(format)
    for (const order of dayOrders) {
      const read = readers[order](text)
      if (typeof read === 'string' || !read.isLocal) continue
      if (this.#momentsOf === undefined) {
        this.#questions.set('zone', noZone)
        return
      }
      const [first, last = first] = this.#momentsOf(read.us)
      if (first !== undefined && last !== undefined) this.#hours[order].note(series, read.us, last - first)
    }
  }

  #readersOf(format: TimeFormat): Record<DayOrder, ReturnType<typeof createTimeReader>> {
    const known = this.#readers.get(format)
    if (known !== undefined) return known
    const readers = { mdy: createTimeReader(format, 'mdy'), dmy: createTimeReader(format, 'dmy') }
    this.#readers.set(format, readers)
    return readers
  }

  /** Throws a CommandError with all questions that are open. */
  settle(): SettledTable {
    const { decimal, preset } = this.#options
    const marks = decimal === undefined ? this.#decimals.settle(this.#hasCommas) : { ok: true as const, mark: decimal }
    const days = this.#columns === undefined ? {} : this.#days.settle(this.#columns, preset)
    const questions = [
      ...this.#questions.values(),
      ...(days.question === undefined ? [] : [days.question]),
      ...(marks.ok ? [] : [`${marks.reason}; say which it is with --decimal comma or --decimal point`]),
    ]
    if (questions.length > 0) throw new CommandError(printable(questions.join('; ')), exitUsage)
    return {
      mark: marks.ok ? marks.mark : undefined,
      order: days.order,
      momentsOf: this.#momentsOf,
      turnOf: this.#hours[days.order ?? 'mdy'].turns(),
      notices: [...(days.notice === undefined ? [] : [days.notice]), ...unitNotices(this.#withoutUnit)],
    }
  }
}

const noZone = 'the times of the file name no time zone; give it with --zone, such as --zone Europe/Zurich'

/** Each metric once. */
export function unitNotices(withoutUnit: Iterable<string>): string[] {
  const taken = [...withoutUnit].filter(metric => unitsOf(metric).length > 1)
  if (taken.length === 0) return []
  const list = taken.map(metric => `${metric} in ${unitSignOf(metric)}`).join(', ')
  return [`no unit is stated, so values are read as: ${list}; --unit, such as --unit temperature=degF, changes that`]
}

const names = { mdy: 'month/day', dmy: 'day/month' } as const

/** Finds out whether the dates of a file have the day or the month first. */
interface SettledDays {
  order?: DayOrder
  notice?: string
  question?: string
}

class DayOrderSurvey {
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
