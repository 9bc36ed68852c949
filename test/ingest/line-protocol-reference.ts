/** A plain parser of line protocol, for comparison: it takes each line apart as a text. One character stands for one byte. */

import { type Metric, metrics } from '../../store/tables.ts'

export interface ReferenceOptions {
  /** Nanoseconds of the unit of timestamps. */
  unitNs: bigint
  latestMs: number
  ignoreUnknown: boolean
  deviceDefault?: string
}

export interface ReferenceResult {
  /** Rows by `device|milliseconds`, with `receipt` in place of a missing time. */
  rows: Map<string, Partial<Record<Metric, number>>>
  /** Numbers of the lines that were refused. */
  rejected: number[]
}

interface Line {
  number: number
  text: string
}

const limits: Record<Metric, [min: number, max: number, stored: number]> = {
  temperature: [-90, 85, 85],
  humidity: [0, 103, 100],
  pressure: [300, 1100, 1100],
  battery_voltage: [0, 100, 100],
  battery_percentage: [0, 110, 100],
}

export function readReference(body: Buffer, options: ReferenceOptions): ReferenceResult {
  const rows: ReferenceResult['rows'] = new Map()
  const rejected: number[] = []
  for (const { number, text } of linesOf(body.toString('latin1'))) {
    try {
      const { device, time, values } = readLine(text, options)
      if (Object.keys(values).length === 0) continue
      const key = `${device}|${time}`
      rows.set(key, { ...rows.get(key), ...values })
    } catch {
      rejected.push(number)
    }
  }
  return { rows, rejected }
}

/** Lines with a point. Within a string, a line feed is one of its characters. */
function linesOf(body: string): Line[] {
  const lines: Line[] = []
  let number = 1
  for (let at = 0; at < body.length; ) {
    const end = endOfLine(body, at)
    const text = body.slice(at, end).replace(/^[ \t\r]+/, '')
    if (text !== '' && !text.startsWith('#')) lines.push({ number, text: text.replace(/\r$/, '') })
    number += body.slice(at, end + 1).split('\n').length - 1
    at = end + 1
  }
  return lines
}

type Part = 'blank' | 'comment' | 'series' | 'fields' | 'string'

function endOfLine(body: string, start: number): number {
  let part: Part = 'blank'
  let before = ''
  for (let at = start; at < body.length; at++) {
    let character = body[at] as string
    if (character === '\n' && part !== 'string') return at
    if (character === '\\' && part !== 'comment' && (part === 'string' || body[at + 1] !== '\n')) {
      character += body[at + 1] ?? ''
      at++
    }
    part = partAfter(part, before, character)
    before = character
  }
  return body.length
}

/** `character` may be an escape of two. */
function partAfter(part: Part, before: string, character: string): Part {
  if (part === 'blank' && ' \t\r'.includes(character)) return 'blank'
  if (part === 'blank') return character === '#' ? 'comment' : 'series'
  if (part === 'series') return character === ' ' ? 'fields' : 'series'
  if (part === 'fields') return character === '"' && before === '=' ? 'string' : 'fields'
  if (part === 'string') return character === '"' ? 'fields' : 'string'
  return part
}

function readLine(text: string, options: ReferenceOptions) {
  if (text.length > 65_536) throw new Error('too long')
  const space = find(text, ' ')
  const device = readDevice(text.slice(0, space), options)
  let rest = text.slice(space).replace(/^ +/, '')
  const values: Partial<Record<Metric, number>> = {}
  let isOutOfRange = false
  for (;;) {
    const equals = find(rest, ',= ')
    if (equals === 0 || rest[equals] !== '=') throw new Error('no name')
    const name = unescapeText(rest.slice(0, equals), ',= \\')
    const [value, behind] = cutValue(rest.slice(equals + 1))
    if (!take(values, name, value, options)) isOutOfRange = true
    rest = behind
    if (!rest.startsWith(',')) break
    rest = rest.slice(1)
  }
  if (isOutOfRange && Object.keys(values).length === 0) throw new Error('nothing is left')
  if (rest !== '' && !rest.startsWith(' ')) throw new Error('characters behind a value')
  return { device, time: readTime(rest.replace(/^ +| +$/g, ''), options), values }
}

/** The first of the characters that is not escaped, or the end. */
function find(text: string, characters: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (characters.includes(text[at] as string)) return at
  }
  return text.length
}

function unescapeText(text: string, escapable: string): string {
  let plain = ''
  for (let at = 0; at < text.length; at++) {
    const isEscape = text[at] === '\\' && at + 1 < text.length && escapable.includes(text[at + 1] as string)
    if (isEscape) at++
    plain += text[at]
  }
  return Buffer.from(plain, 'latin1').toString('utf8')
}

function splitTags(series: string): string[] {
  const comma = find(series, ',')
  if (comma === series.length) return [series]
  return [series.slice(0, comma), ...splitTags(series.slice(comma + 1))]
}

function readDevice(series: string, { deviceDefault }: ReferenceOptions): string {
  const parts = splitTags(series)
  if (parts[0] === '') throw new Error('no measurement')
  if (parts.length > 257) throw new Error('too many tags')
  const devices = parts
    .slice(1)
    .map(splitTag)
    .filter(({ name }) => name === 'device')
  if (devices.length > 1) throw new Error('twice')
  const name = devices[0]?.value ?? deviceDefault
  if (name === undefined || [...name].length > 64 || name.includes('\uFFFD')) throw new Error('no device')
  return name.normalize('NFC')
}

function splitTag(tag: string): { name: string; value: string } {
  const equals = find(tag, '=')
  const value = tag.slice(equals + 1)
  if (equals === 0 || value === '' || find(value, '=') < value.length) throw new Error('no tag')
  return { name: unescapeText(tag.slice(0, equals), ',= \\'), value: unescapeText(value, ',= \\') }
}

function cutValue(text: string): [value: string, behind: string] {
  if (!text.startsWith('"')) {
    const end = find(text, ',= ')
    return [text.slice(0, end), text.slice(end)]
  }
  const end = find(text.slice(1), '"') + 2
  if (end > text.length) throw new Error('not closed')
  return [text.slice(0, end), text.slice(end)]
}

/** False for a value out of range. */
function take(
  values: Partial<Record<Metric, number>>,
  name: string,
  text: string,
  { ignoreUnknown }: ReferenceOptions,
): boolean {
  if (text === '') throw new Error('no value')
  const metric = metrics.find(known => known === name)
  if (metric === undefined) {
    if (ignoreUnknown) return true
    throw new Error('unknown')
  }
  const isNumber = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) || /^-?\d+i$/.test(text) || /^\d+u$/.test(text)
  const number = Number(text.replace(/[iu]$/, ''))
  const [min, max, stored] = limits[metric]
  if (!isNumber || text.length > 400 || !Number.isFinite(number)) throw new Error('value')
  delete values[metric]
  if (number < min || number > max) return false
  values[metric] = Math.min(number, stored)
  return true
}

function readTime(text: string, { unitNs, latestMs }: ReferenceOptions): string {
  if (text === '') return 'receipt'
  if (!/^-?\d{1,19}$/.test(text)) throw new Error('time')
  const ms = (BigInt(text) * unitNs) / 1_000_000n
  if (ms < Date.UTC(2000, 0, 1) || ms > latestMs) throw new Error('time')
  return String(ms)
}
