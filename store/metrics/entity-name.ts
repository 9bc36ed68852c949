/**
 * Entities of Home Assistant: the end of `porch_temperature` names a metric, and the rest before it is the device. The longest
 * matching ending counts.
 */

import { catalogue } from './catalogue.ts'

export interface EntityName {
  /** Undefined where the whole name is a metric. */
  readonly device: string | undefined
  readonly metric: string
}

/** True for a name in the registry of metrics. */
type IsMetric = (name: string) => boolean

const endings: ReadonlyMap<string, string> = new Map(
  catalogue.flatMap(({ name, aliases }) => [name, ...aliases].map(ending => [ending, name] as const)),
)

/** Home Assistant's own limit. */
const entityLengthMax = 255

const inCatalogue: IsMetric = () => false

/** Looks up names and aliases of the catalogue, then names that `isMetric` knows. `entity` is without its domain. */
export function readEntityName(entity: string, isMetric = inCatalogue): EntityName | undefined {
  if (entity.length > entityLengthMax) return undefined
  for (let start = 0; start !== -1; start = nextWord(entity, start)) {
    const ending = entity.slice(start)
    const metric = endings.get(ending) ?? (isMetric(ending) ? ending : undefined)
    // The underscore before the ending belongs to neither part.
    if (metric !== undefined) return { device: start === 0 ? undefined : entity.slice(0, start - 1), metric }
  }
  return undefined
}

/** Returns -1 after the last word. A device has at least one character. */
function nextWord(entity: string, start: number): number {
  const at = entity.indexOf('_', Math.max(start, 1))
  return at === -1 ? -1 : at + 1
}
