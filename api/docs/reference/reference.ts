/** Groups the published contract into families with operations and their schemas. */

import type { Json, OpenApiDocument, PublishedOperation } from '../contract.ts'

export interface Family {
  /** Path from the root: `docs/api/air-quality`. */
  path: string
  title: string
  description: string
  operations: FamilyOperation[]
}

export interface FamilyOperation {
  /** `docs/api/logger/log_reading` */
  page: string
  method: string
  path: string
  operation: PublishedOperation
}

/** Ordered by their first operations. */
export function familiesOf({ paths, tags }: OpenApiDocument): Family[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? 'others')
  return [...byTag].map(([name, operations]) => {
    const path = `docs/api/${name.replaceAll(' ', '-')}`
    return {
      path,
      title: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
      description: tags.find(tag => tag.name === name)?.description ?? '',
      operations: operations.map(each => ({ ...each, page: `${path}/${each.operation.operationId}` })),
    }
  })
}

/** Named schemas that `part` refers to, directly or through others, in the order of reference. */
export function schemasOf(part: unknown, all: Json): [name: string, schema: Json][] {
  const names = new Set(referencesIn(part))
  // Iterating over a set includes elements that are added on the way.
  for (const name of names) for (const inner of referencesIn(all[name])) names.add(inner)
  return [...names].map(name => [name, all[name] as Json])
}

const referencePattern = /"\$ref":"#\/components\/schemas\/([^"]+)"/g

function referencesIn(part: unknown): string[] {
  return [...JSON.stringify(part).matchAll(referencePattern)].flatMap(([, name]) => name ?? [])
}
