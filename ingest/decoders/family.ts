/** Declaration of a family of messages: where device, time and values stand in them, and the conversion of their units. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { type Convert, conversion, unchanged } from '../../store/metrics/units.ts'
import { valueAt } from './json-path.ts'

/** Of a message. More of them are a batch, which has a way in of its own. */
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
  /** Whether fields without a rule are dropped. Otherwise they keep their names. */
  readonly dropsOthers?: boolean | undefined
  /** Whether numbers without a rule come as texts. */
  readonly hasTexts?: boolean | undefined
}

export type UnitRule = (message: Message) => Convert

/** Why a unit cannot be converted to the one of the metric; undefined for one that can. */
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
