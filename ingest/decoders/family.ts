/** Declaration of a family of messages: where device, time and values stand in them, and the conversion of their units. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { type Convert, conversion, unchanged } from '../../store/metrics/units.ts'

/** Maximum readings of a message. A batch has a way in of its own. */
export const readingsMax = 1000

/** A message as its way in has parsed it. */
export interface Message {
  /** JSON, the fields of a form, or a text where a payload is not JSON. */
  readonly body: unknown
  /** The message around a part, with the device or the time of all its parts. */
  readonly around?: unknown
  /** MQTT alone. */
  readonly topic?: string | undefined
  /** Query string of HTTP. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

/**
 * The path of a field below its values, its metric, and the unit in which it is sent. In the path `*` is any text
 * within a level and `#` a number, which `#` in the metric repeats. A metric of null drops the field. The unit is
 * converted to the one that the catalogue has, or to the one behind `>`. A pointer such as `/TempUnit` names a field
 * with the unit, and `not` inverts a state.
 */
export type FieldRule = readonly [path: string, metric: string | null, unit?: string]

export interface Family {
  readonly name: string
  /**
   * Topics with readings: `+` is a level, `**` one or more; `{device}` and `{metric}` are levels that name these, and `{device+}`
   * takes several levels, and `#` at the end all that follow. All other topics have no readings.
   */
  readonly topics?: readonly string[] | undefined
  /** Exceptions from `topics`. */
  readonly noReadings?: readonly string[]
  /** Pointers that a message needs, with the reason why it is refused without one. Without a reason it has no reading. */
  readonly needs?: readonly (readonly [pointer: string, reason?: string])[]
  /** Parts of a message that are messages of their own. */
  readonly split?: (message: Message) => readonly Message[]
  /** Pointer to a list whose elements are messages of their own; device and time may stand beside the list. */
  readonly each?: string | undefined
  /** The first of these with all its parts: `{/pointer}`, `{?parameter}`, `{device}` of the topic. */
  readonly device: readonly string[]
  /** Pointers; the first with a time counts. `UTC` behind one: its text has no zone. */
  readonly time?: readonly string[] | undefined
  /** Pointers to objects with values; default is the whole message. */
  readonly values?: readonly string[] | undefined
  readonly fields?: readonly FieldRule[] | undefined
  /** Values elsewhere in the message, by pointers. */
  readonly also?: readonly FieldRule[] | undefined
  /** Fields without a rule are dropped if it is true. Otherwise they keep their names. */
  readonly dropsOthers?: boolean | undefined
  /** Numbers without a rule come as texts if it is true. */
  readonly hasTexts?: boolean | undefined
}

export type UnitRule = (message: Message) => Convert

/** Reason why a unit cannot be converted to the one of the metric; undefined for one that can. */
export function unitFault(metric: string, unit: string): string | undefined {
  if (unit === 'not') return undefined
  try {
    compileUnit(metric, unit)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Throws for a declaration with a unit that cannot be converted. */
export function compileUnit(metric: string, unit: string): UnitRule {
  const [from = '', to = catalogueEntry(metric)?.unit ?? ''] = unit.split('>')
  if (from.startsWith('/')) return message => convertFrom(valueAt(message.body, from), to)
  const found = conversion(from, to)
  if (!found.ok) throw new Error(`${metric}: ${found.reason}`)
  return () => found.convert
}

/** The message states its unit. */
function convertFrom(unit: unknown, to: string): Convert {
  const found = typeof unit === 'string' ? conversion(unit, to) : undefined
  return found?.ok === true ? found.convert : unchanged
}

/** Undefined for a missing place. Inherited properties are ignored. */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value
  for (let start = 1; start <= pointer.length; ) {
    const slashAt = pointer.indexOf('/', start)
    const end = slashAt === -1 ? pointer.length : slashAt
    const level = pointer.slice(start, end)
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, level)) return undefined
    found = (found as Record<string, unknown>)[level]
    start = end + 1
  }
  return found
}

export type Leaf = string | number | boolean

/** Limits of depth, number and length: fields of sensors stay below them. */
const depthMax = 6
const leavesMax = 300
const nodesMax = 2000
const pathLengthMax = 128

/** Numbers, booleans and texts below an object, by their paths. Arrays are not entered. */
export function leavesOf(value: unknown): [path: string, leaf: Leaf][] {
  const collector = new LeafCollector()
  collector.collect(value, '', 0)
  return collector.leaves
}

class LeafCollector {
  readonly leaves: [path: string, leaf: Leaf][] = []
  #nodes = 0

  collect(value: unknown, path: string, depth: number): void {
    if (isLeaf(value)) {
      if (this.leaves.length < leavesMax) this.leaves.push([path, value])
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < depthMax) {
      this.#collectBelow(value as Record<string, unknown>, path, depth + 1)
    }
  }

  #collectBelow(object: Record<string, unknown>, path: string, depth: number): void {
    for (const name in object) {
      if (++this.#nodes > nodesMax) return
      const below = path === '' ? name : `${path}/${name}`
      if (below.length <= pathLengthMax) this.collect(object[name], below, depth)
    }
  }
}

export function isLeaf(value: unknown): value is Leaf {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** Compiles a pattern with `*` and `#`. The groups are the numbers. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${escaped(path).replaceAll('\\*', '[^/]*').replaceAll('#', '(\\d+)')}$`)
}

/** Compiles a pattern of `Family`. */
export function topicPattern(topic: string): RegExp {
  const levels = topic.split('/').map(level => {
    if (level === '+') return '[^/]+'
    if (level === '**') return '.+'
    if (level === '#') return '.*'
    const [, name, several] = /^\{(\w+)(\+?)\}$/.exec(level) ?? []
    return name === undefined ? escaped(level) : `(?<${name}>${several === '' ? '[^/]+' : '.+'})`
  })
  return new RegExp(`^${levels.join('/')}$`, 'u')
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
