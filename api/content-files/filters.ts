/** Parses the filters of the list from the query and reports all wrong values, one message for each argument. */

import { type Filters, foldCase, type UnknownCodes } from '../../query/content/filters.ts'
import { type Query, valueCharactersMax } from './query-string.ts'

/** Messages by argument, in the order of the report. */
export type FilterErrors = Partial<Record<FilterName, readonly [string]>>

export interface FiltersRead {
  filters: Filters
  errors: FilterErrors
}

/** Their order is the order of errors. */
export const filterNames = [
  'run_id',
  'resource_id',
  'content_feature_type',
  'edx_module_id',
  'offered_by',
  'platform',
] as const
type FilterName = (typeof filterNames)[number]

export function readFilters(query: Query): FiltersRead {
  const errors: FilterErrors = {}
  function read<T>(name: FilterName, reader: (values: readonly string[]) => Values<T>): T[] | undefined {
    const texts = query.values(name)
    const long = texts.find(text => text.length > valueCharactersMax)
    const result = long === undefined ? reader(texts) : { error: tooLong(long) }
    if ('error' in result) errors[name] = [result.error]
    return 'values' in result && result.values.length > 0 ? result.values : undefined
  }
  const runIds = read('run_id', readNumbers)
  const resourceIds = read('resource_id', readNumbers)
  const featureTypes = read('content_feature_type', readTexts)
  const moduleIds = read('edx_module_id', readTexts)
  const units = read('offered_by', readCodes)
  const platforms = read('platform', readCodes)
  return { errors, filters: { runIds, resourceIds, featureTypes, moduleIds, units, platforms } }
}

/** Adds unknown codes to the errors. Undefined without any error. */
export function filterErrors(errors: FilterErrors, { unit, platform }: UnknownCodes): FilterErrors | undefined {
  const all: FilterErrors = { ...errors }
  if (unit !== undefined) all.offered_by = [notAvailable(unit)]
  if (platform !== undefined) all.platform = [notAvailable(platform)]
  const reported = filterNames.flatMap(name => (all[name] === undefined ? [] : [[name, all[name]] as const]))
  return reported.length === 0 ? undefined : Object.fromEntries(reported)
}

function notAvailable(code: string): string {
  return `Select a valid choice. ${code} is not one of the available choices.`
}

type Values<T> = { values: T[] } | { error: string }

function tooLong(text: string): string {
  return `Ensure this value has at most ${valueCharactersMax} characters (it has ${text.length}).`
}

function readNumbers(texts: readonly string[]): Values<number> {
  const values: number[] = []
  for (const text of texts) {
    if (text === '') continue
    const value = readNumber(text)
    if (value === undefined) return { error: 'Enter a number.' }
    values.push(value)
  }
  return { values }
}

/** Digits follow digits only behind a point, so matching does not backtrack. */
const decimalNumber = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?$/i

/** An id without a file. */
const noId = -1
const digitsMax = 16

/** Cuts decimals to integers without computing large numbers: `1e999999999` has a billion digits. */
function readNumber(text: string): number | undefined {
  const parts = decimalNumber.exec(text.trim())
  if (parts === null) return undefined
  const [, sign, whole = '', behind = '', alone = '', exponent = '0'] = parts
  const digits = `${whole}${behind}${alone}`.replace(/^0+/, '')
  // Number of digits before the point.
  const length = whole.length + Number(exponent) - (`${whole}${behind}${alone}`.length - digits.length)
  if (digits === '' || length <= 0) return 0
  if (sign === '-' || length > digitsMax) return noId
  const value = Number(digits.slice(0, length).padEnd(length, '0'))
  return Number.isSafeInteger(value) ? value : noId
}

function readTexts(texts: readonly string[]): Values<string> {
  const values = texts.map(text => text.trim()).filter(text => text !== '')
  if (values.some(text => text.includes('\0'))) return { error: 'Null characters are not allowed.' }
  return { values: values.map(foldCase) }
}

/** Repeated, or with commas, without trimming. The store reports unknown codes. */
function readCodes(texts: readonly string[]): Values<string> {
  return { values: texts.flatMap(text => text.split(',')) }
}
