/** Converts the units of a sender to the units of the metrics. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { type Convert, conversion, unchanged } from '../../store/metrics/units.ts'
import type { Message } from './family.ts'
import { valueAt } from './json-path.ts'

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
