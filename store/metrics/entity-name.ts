/**
 * Entities of Home Assistant: the end of `porch_temperature` names a metric, and what stands before it is the device. Of several
 * endings the longest counts.
 */

import { catalogue } from './catalogue.ts'

export interface EntityName {
  /** Undefined where the whole name is that of a metric. */
  readonly device: string | undefined
  readonly metric: string
}

/** Whether the registry has a metric of this name. */
type IsMetric = (name: string) => boolean

const endings: ReadonlyMap<string, string> = new Map(
  catalogue.flatMap(({ name, aliases }) => [name, ...aliases].map(ending => [ending, name] as const)),
)

/** Home Assistant has no longer ones. */
const entityLengthMax = 255

const inCatalogue: IsMetric = () => false

/** By the names and aliases of the catalogue, and by the names that `isMetric` knows. `entity` is without its domain. */
export function readEntityName(entity: string, isMetric = inCatalogue): EntityName | undefined {
  if (entity.length > entityLengthMax) return undefined
  for (let start = 0; start !== -1; start = nextWord(entity, start)) {
    const ending = entity.slice(start)
    const metric = endings.get(ending) ?? (isMetric(ending) ? ending : undefined)
    // The underscore before the ending belongs to neither.
    if (metric !== undefined) return { device: start === 0 ? undefined : entity.slice(0, start - 1), metric }
  }
  return undefined
}

/** -1 behind the last one. A device has one character at least. */
function nextWord(entity: string, start: number): number {
  const at = entity.indexOf('_', Math.max(start, 1))
  return at === -1 ? -1 : at + 1
}
