/** Reads a message by the declaration of its family: pure, in bounded time, and without a judgement on values. */

import { timeFieldOf } from '../../store/metrics/metric-name.ts'
import { type Fields, isColumnField } from '../field-names.ts'
import { timeIn } from '../reading.ts'
import {
  compileUnit,
  type Family,
  type FieldRule,
  isLeaf,
  type Leaf,
  leavesOf,
  type Message,
  pathPattern,
  readingsMax,
  topicPattern,
  type UnitRule,
  valueAt,
} from './family.ts'

/** Bodies of readings in the format of `PUT /api/log`, a message without readings, or the reason of a refusal. */
type Decoded =
  | { readonly kind: 'readings'; readonly readings: readonly Fields[] }
  | { readonly kind: 'nothing'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly reason: string }

export type Decode = (message: Message) => Decoded

const topicLengthMax = 256

interface Rule {
  readonly pattern: RegExp
  readonly metric: string | null
  /** Undefined for a value that is in the unit of its metric. */
  readonly convert: UnitRule | undefined
  readonly inverts: boolean
}

/** The target of a path's values. */
interface Target {
  readonly field: string
  /** The path as a field, for a second value of the metric. */
  readonly own: string
  readonly rule: Rule | undefined
}

type Values = Record<string, Leaf>
type Topic = Readonly<Record<string, string>>

const nothing = (reason: string): Decoded => ({ kind: 'nothing', reason })

export function createDecoder(family: Family): Decode {
  const { name, needs = [], split, each, values = [''], also = [], hasTexts = false } = family
  const readTopic = createTopicReader(family)
  const findTarget = createTargetFinder(family)
  const extras = also.map(rule => ({ pointer: rule[0], target: targetOf(rule[0], compileRule(rule)) }))
  const readDevice = createDeviceReader(family.device)

  const rejected = (reason: string): Decoded => ({ kind: 'rejected', reason: `${name}: ${reason}` })

  function addField(fields: Values, target: Target | undefined, leaf: Leaf, message: Message): void {
    if (target === undefined) return
    const { field, rule } = target
    if (rule === undefined) {
      const value = typeof leaf === 'string' ? otherText(field, leaf) : leaf
      if (value !== undefined) fields[field] = value
    } else addByRule(fields, target, rule, leaf, message)
  }

  /** A text that is not a number stays in the field of a column, so that the intake refuses it by name. */
  function otherText(field: string, text: string): Leaf | undefined {
    const value = stateOf(text) ?? (hasTexts ? numberOf(text) : undefined)
    return value === undefined && isColumnField(field) && !isMissing(text) ? text : value
  }

  function fieldsOf(message: Message, { metric }: Topic): Values {
    const fields: Values = {}
    const { body } = message
    const roots = metric === undefined ? values.map(pointer => valueAt(body, pointer)) : [{ [metric]: body }]
    for (const root of roots) {
      for (const [path, leaf] of leavesOf(root)) addField(fields, findTarget(path), leaf, message)
    }
    for (const { pointer, target } of extras) {
      const leaf = valueAt(body, pointer)
      if (isLeaf(leaf)) addField(fields, target, leaf, message)
    }
    return fields
  }

  /** Reason why a message has no reading; undefined for one that may have one. */
  function lackOf({ body }: Message): Decoded | undefined {
    for (const [pointer, reason] of needs) {
      if ((valueAt(body, pointer) ?? null) !== null) continue
      return reason === undefined ? nothing(`no ${pointer}`) : rejected(reason)
    }
    return undefined
  }

  function decodeOne(message: Message, topic: Topic): Decoded {
    const lack = lackOf(message)
    if (lack !== undefined) return lack
    const fields: Fields = fieldsOf(message, topic)
    if (isEmpty(fields)) return nothing('no values')
    const device = readDevice(message, topic)
    if (device === undefined) return rejected('the message names no device (webhooks: add ?device=NAME)')
    const timestamp = timeOf(family.time ?? [], message)
    if (timestamp !== undefined) fields['timestamp'] = timestamp
    fields['device'] = device
    return { kind: 'readings', readings: [fields] }
  }

  function decodeAll(parts: readonly Message[], topic: Topic): Decoded {
    if (parts.length > readingsMax) return rejected(`more than ${readingsMax} readings in a message`)
    const readings: Fields[] = []
    let last = nothing('no values')
    for (const part of parts) {
      last = decodeOne(part, topic)
      if (last.kind === 'rejected') return last
      if (last.kind === 'readings') readings.push(...last.readings)
    }
    return readings.length === 0 ? last : { kind: 'readings', readings }
  }

  return message => {
    const topic = readTopic(message.topic)
    if (topic === undefined) return nothing('a topic without readings')
    if (split !== undefined) return decodeAll(split(message), topic)
    if (each !== undefined) return decodeAll(elementsOf(message, each), topic)
    const isValue = topic['metric'] !== undefined
    const isObject = typeof message.body === 'object' && message.body !== null
    return isValue || isObject ? decodeOne(message, topic) : rejected('must be a JSON object')
  }
}

/** No more of them than one too many, which refuses the message. */
function elementsOf({ body, ...message }: Message, pointer: string): readonly Message[] {
  const list = valueAt(body, pointer)
  if (!Array.isArray(list)) return []
  return list.slice(0, readingsMax + 1).map(element => ({ ...message, body: element, around: body }))
}

/**
 * The cache has the paths that were looked up last: senders repeat them, and patterns take most of the time of a
 * message.
 */
const pathsMax = 2000

function createTargetFinder({ fields = [], dropsOthers = false }: Family): (path: string) => Target | undefined {
  const rules = fields.map(compileRule)
  const found = new Map<string, Target | undefined>()
  return path => {
    const known = found.get(path)
    if (known !== undefined || found.has(path)) return known
    const rule = rules.find(({ pattern }) => pattern.test(path))
    const target = rule === undefined && dropsOthers ? undefined : targetOf(path, rule)
    if (found.size === pathsMax) found.clear()
    found.set(path, target)
    return target
  }
}

/** Undefined for a path whose values are dropped. */
function targetOf(path: string, rule: Rule | undefined): Target | undefined {
  const own = path.replaceAll('/', '_')
  if (rule === undefined) {
    const isDropped = own === 'device' || own === '__proto__' || timeFieldOf(own) !== undefined
    return isDropped ? undefined : { field: own, own, rule }
  }
  if (rule.metric === null) return undefined
  const [, ...numbers] = rule.pattern.exec(path) ?? []
  return { field: rule.metric.replace(/#/g, () => numbers.shift() ?? ''), own, rule }
}

/** Reads the names in a topic. The result is undefined for a topic without readings. */
export function createTopicReader({
  topics,
  noReadings = [],
}: Pick<Family, 'topics' | 'noReadings'>): (topic: string | undefined) => Topic | undefined {
  const wanted = topics?.map(topicPattern)
  const unwanted = noReadings.map(topicPattern)
  return topic => {
    if (topic === undefined || wanted === undefined) return {}
    if (topic.length > topicLengthMax || unwanted.some(pattern => pattern.test(topic))) return undefined
    for (const pattern of wanted) {
      const found = pattern.exec(topic)
      if (found !== null) return found.groups ?? {}
    }
    return undefined
  }
}

/** Two fields of one metric, such as temperatures of two sensors: the first has its name, the others keep their own. */
function addByRule(
  fields: Values,
  { field: named, own }: Target,
  { convert, inverts }: Rule,
  leaf: Leaf,
  message: Message,
): void {
  const field = Object.hasOwn(fields, named) ? own : named
  const value = typeof leaf === 'string' ? (stateOf(leaf) ?? numberOf(leaf)) : leaf
  // The intake refuses a text that is not a number, and names its field.
  if (value === undefined) {
    if (!isMissing(leaf as string)) fields[field] = leaf
  } else if (inverts) fields[field] = !value
  else fields[field] = convert === undefined ? value : convert(message)(Number(value))
}

function isEmpty(fields: Fields): boolean {
  for (const _ in fields) return false
  return true
}

function compileRule([path, metric, unit]: FieldRule): Rule {
  const inverts = unit === 'not'
  const convert = metric === null || unit === undefined || inverts ? undefined : compileUnit(metric, unit)
  return { pattern: pathPattern(path), metric, convert, inverts }
}

/** Names of devices have no `:`, `/`, `+` and `#` (`DeviceName`), so `A4:C1:38:00:00:01` is written without colons. */
export function cleanDeviceName(text: string): string {
  return /[:/+#]/.test(text) ? text.replaceAll(':', '').replace(/[/+#]/g, '-') : text
}

/** The first template with all its places. */
function createDeviceReader(templates: readonly string[]): (message: Message, topic: Topic) => string | undefined {
  // Texts and places in turns.
  const compiled = ['{?device}', ...templates].map(template => template.split(/[{}]/))
  return (message, topic) => {
    for (const parts of compiled) {
      let name = ''
      const isWhole = parts.every((part, index) => {
        const text = index % 2 === 0 ? part : textAt(part, message, topic)
        name += text
        return index % 2 === 0 || text !== ''
      })
      const clean = cleanDeviceName(name)
      if (isWhole && clean !== '') return clean
    }
    return undefined
  }
}

function textAt(place: string, { body, around, parameters = {} }: Message, topic: Topic): string {
  const found = place.startsWith('/')
    ? (valueAt(body, place) ?? valueAt(around, place))
    : placeOf(place, parameters, topic)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : ''
}

function placeOf(place: string, parameters: Readonly<Record<string, string>>, topic: Topic): string | undefined {
  if (!place.startsWith('?')) return topic[place]
  const name = place.slice(1)
  return Object.hasOwn(parameters, name) ? parameters[name] : undefined
}

/** Epoch milliseconds; undefined for the time of receipt. */
function timeOf(pointers: readonly string[], { body, around }: Message): number | undefined {
  for (const declared of pointers) {
    const [pointer = '', zone] = declared.split(' ')
    const value = valueAt(body, pointer) ?? valueAt(around, pointer)
    const text = typeof value === 'string' ? value.replace(/^(\d{4})\/(\d{2})\//, '$1-$2-') : value
    const timeMs = timeIn(zone === undefined || typeof text !== 'string' ? text : `${text}Z`) ?? timeIn(text)
    if (timeMs !== undefined) return timeMs
  }
  return undefined
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i
const decimalLengthMax = 32
/** Texts that senders write in place of a value. */
const missing: ReadonlySet<string> = new Set(['', '-', '--', 'n/a', 'nan', 'none', 'null', 'unavailable', 'unknown'])

function isMissing(text: string): boolean {
  return missing.has(text.trim().toLowerCase())
}

function numberOf(text: string): number | undefined {
  const trimmed = text.trim()
  return trimmed.length <= decimalLengthMax && decimal.test(trimmed) ? Number(trimmed) : undefined
}

/** Words of a switch; undefined for another text. */
function stateOf(text: string): boolean | undefined {
  const word = text.toLowerCase()
  if (word === 'on' || word === 'true') return true
  return word === 'off' || word === 'false' ? false : undefined
}
