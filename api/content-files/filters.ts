/** What narrows the list, read from the query; wrong values are all reported, one message for each argument. */

import type { Filters, UnknownCodes } from '../../query/content/filters.ts'
import { foldCase } from '../../query/content/fold-case.ts'
import { type Query, valueCharactersMax } from './query-string.ts'

/** A message by argument, in the order in which they are reported. */
export type FilterErrors = Partial<Record<FilterName, readonly [string]>>

export interface FiltersRead {
  /** Those that are right. */
  filters: Filters
  errors: FilterErrors
}

/** In the order of their errors. */
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

/** With what turned out not to be known; undefined when nothing is wrong. */
export function filterErrors(errors: FilterErrors, { unit, platform }: UnknownCodes): FilterErrors | undefined {
  const all: FilterErrors = { ...errors }
  if (unit !== undefined) all.offered_by = [notAvailable(unit)]
  if (platform !== undefined) all.platform = [notAvailable(platform)]
  const told = filterNames.flatMap(name => (all[name] === undefined ? [] : [[name, all[name]] as const]))
  return told.length === 0 ? undefined : Object.fromEntries(told)
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

/** Only a point lets digits follow digits, so there is one way to read a text, and no way back. */
const decimalNumber = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?$/i

/** The id of nothing. */
const noId = -1
const digitsMax = 16

/**
 * Decimal numbers, cut to whole ones. Those that are too large to be an id are the id of nothing; they are never made,
 * for `1e999999999` has a billion digits.
 */
function readNumber(text: string): number | undefined {
  const parts = decimalNumber.exec(text.trim())
  if (parts === null) return undefined
  const [, sign, whole = '', behind = '', alone = '', exponent = '0'] = parts
  const digits = `${whole}${behind}${alone}`.replace(/^0+/, '')
  // How many of the digits stand before the point.
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

/** Repeated, or with commas; nothing is trimmed. Whether a code is known only the store can tell. */
function readCodes(texts: readonly string[]): Values<string> {
  return { values: texts.flatMap(text => text.split(',')) }
}
