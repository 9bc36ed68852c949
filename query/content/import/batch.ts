/**
 * Turns lines into rows. Each file occurs once, by its last line. Its units, platforms, departments, topics, resources
 * and runs have the fields of their newest line. The rows are named like the columns of the tables.
 */

import { type OwnFields, ownNames } from '../file-text.ts'
import { moduleDigest } from '../filters.ts'
import type { ContentFileLine } from '../line.ts'

/** Ordered by their references to each other. */
export const referenceTables = [
  'content_units',
  'content_platforms',
  'content_schools',
  'content_departments',
  'content_topics',
  'content_resources',
  'content_runs',
] as const
export type ReferenceTable = (typeof referenceTables)[number]

export interface Batch {
  references: Record<ReferenceTable, object[]>
  featureTypes: string[]
  /** Distinct lists of feature types. A file refers to its list by the index here. */
  featureSets: string[][]
  files: IncomingFile[]
}

export function toBatch(lines: readonly ContentFileLine[]): Batch {
  const references = new References()
  const featureSets = new Map<string, number>()
  const files = new Map<string, IncomingFile>()
  for (const line of lines) {
    references.add(line)
    const name = `${line.run_id} ${line.key}`
    const set = placeOf(featureSets, JSON.stringify(line.content_feature_type))
    files.set(name, fileRow(line, set, files.size, files.get(name)))
  }
  const sets = [...featureSets.keys()].map(text => JSON.parse(text) as string[])
  return {
    references: references.rows(),
    featureTypes: [...new Set(sets.flat())],
    featureSets: sets,
    files: [...files.values()],
  }
}

function placeOf(places: Map<string, number>, text: string): number {
  const place = places.get(text) ?? places.size
  places.set(text, place)
  return place
}

class References {
  readonly #maps = new Map<ReferenceTable, Map<string | number, object>>(
    referenceTables.map(table => [table, new Map()]),
  )

  add(line: ContentFileLine): void {
    const { offered_by, platform, departments, topics } = line
    this.#set('content_units', offered_by.code, offered_by)
    this.#set('content_platforms', platform.code, platform)
    for (const { school, ...department } of departments) {
      if (school !== null) this.#set('content_schools', school.id, school)
      this.#set('content_departments', department.department_id, { ...department, school_id: school?.id ?? null })
    }
    for (const topic of topics) this.#set('content_topics', topic.id, topic)
    this.#set('content_resources', line.resource_id, resourceRow(line))
    this.#set('content_runs', line.run_id, runRow(line))
  }

  #set(table: ReferenceTable, key: string | number, row: object): void {
    this.#maps.get(table)?.set(key, row)
  }

  rows(): Record<ReferenceTable, object[]> {
    const entries = [...this.#maps].map(([table, rows]) => [table, [...rows.values()]])
    return Object.fromEntries(entries)
  }
}

function resourceRow(line: ContentFileLine): object {
  return {
    id: line.resource_id,
    readable_id: line.resource_readable_id,
    course_numbers: line.course_number,
    department_ids: line.departments.map(department => department.department_id),
    topic_ids: line.topics.map(topic => topic.id),
    offered_by: line.offered_by.code,
    platform: line.platform.code,
  }
}

function runRow(line: ContentFileLine): object {
  return {
    id: line.run_id,
    title: line.run_title,
    slug: line.run_slug,
    semester: line.semester,
    year: line.year,
    readable_id: line.run_readable_id,
    resource_id: line.resource_id,
  }
}

type IncomingFile = ReturnType<typeof fileRow>
type EarlierRow = { id?: number | undefined; created_on?: string | undefined; place: number }

/**
 * `earlier` is an earlier line of the same file: its requested id has precedence, and its time applies while none is
 * given.
 */
function fileRow(line: ContentFileLine, feature_set: number, place: number, earlier: EarlierRow | undefined) {
  const { edx_module_id } = line
  return {
    id: earlier === undefined ? line.id : earlier.id,
    created_on: line.created_on ?? earlier?.created_on,
    place: earlier?.place ?? place,
    run_id: line.run_id,
    key: line.key,
    published: line.published,
    feature_set,
    edx_module_digest: edx_module_id === null ? null : `\\x${moduleDigest(edx_module_id).toString('hex')}`,
    own_fields: ownFields(line),
    content: line.content,
  }
}

function ownFields(line: ContentFileLine): OwnFields {
  return Object.fromEntries(ownNames.map(name => [name, line[name]])) as OwnFields
}
