/** Units that users state for senders or files without units: `temperature=degF,wind_speed=mph`. */

import { catalogueEntry } from './catalogue.ts'
import { conversion, unitOf, units } from './units.ts'

/** Keys are metric names. */
export type StatedUnits = ReadonlyMap<string, string>

type ReadUnits = { ok: true; units: StatedUnits } | { ok: false; reason: string }

export function readStatedUnits(text: string): ReadUnits {
  const found = new Map<string, string>()
  for (const part of text.split(',')) {
    const [metric = '', unit = '', ...rest] = part.split('=', 3).map(each => each.trim())
    if (rest.length > 0 || metric === '' || unit === '') {
      return { ok: false, reason: `"${part}" is not a metric with its unit, such as temperature=degF` }
    }
    const problem = unitProblem(metric, unit)
    if (problem !== undefined) return { ok: false, reason: problem }
    found.set(metric, unit)
  }
  return { ok: true, units: found }
}

/** Returns an error sentence when the metric cannot have this unit. */
export function unitProblem(metric: string, unit: string): string | undefined {
  const own = catalogueEntry(metric)?.unit ?? ''
  if (conversion(unit, own).ok) return undefined
  const known = signsLike(own)
  if (known.length === 0) return `${metric} has no unit that is known; leave it out`
  return `the unit of ${metric} is one of ${known.join(', ')}`
}

/** Units of the same dimension, as people read them. */
export function signsLike(code: string): string[] {
  const dimension = unitOf(code)?.dimension
  return dimension === undefined ? [] : units.filter(unit => unit.dimension === dimension).map(({ sign }) => sign)
}
