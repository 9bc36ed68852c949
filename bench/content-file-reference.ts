/** Expected results of listing queries, computed from the generated files: random queries of every kind, with counts and ids. */

import type { GeneratedFile } from '../cli/demo/content-file-generator.ts'
import type { Random } from '../cli/demo/noise.ts'

/** Files of one run with the same tags. */
interface Group {
  runId: number
  resourceId: string
  unit: string
  platform: string
  /** Lower case. */
  tags: string[]
  count: number
}

interface Listed {
  id: number
  createdOn: string
  moduleId: string | null
  group: Group
}

/** The condition on a file. `moduleId` is undefined to match a whole group. */
type Filter = (group: Group, moduleId: string | null | undefined) => boolean

export interface TestQuery {
  query: string
  /** The number of matches and the ids of the page. */
  expected(): { count: number; ids: number[] }
}

export interface Reference {
  /** Published files. */
  count: number
  kinds: readonly string[]
  /** A random query of a kind, at a random offset. */
  createQuery(kind: string, limit: number, random: Random): TestQuery
}

export function createReference(generated: Iterable<GeneratedFile>): Reference {
  const { files, groups } = group(generated)
  const kinds = createKinds(files, groups)
  const counts = new Map<string, number>()

  function countOf({ args, filter, count }: QuerySpec): number {
    const name = String(new URLSearchParams(args))
    const known = counts.get(name) ?? count ?? countIn(groups, filter)
    counts.set(name, known)
    return known
  }

  function createQuery(kind: string, limit: number, random: Random): TestQuery {
    const spec = (kinds[kind] ?? noFilter)(random)
    const { args, filter } = spec
    const offset = Math.floor(random() * countOf(spec))
    const query = new URLSearchParams([...args, ['limit', String(limit)], ['offset', String(offset)]])
    return {
      query: String(query),
      expected() {
        const matching = files.filter(({ group, moduleId }) => filter(group, moduleId))
        return { count: matching.length, ids: matching.slice(offset, offset + limit).map(({ id }) => id) }
      },
    }
  }

  return { count: files.length, kinds: Object.keys(kinds), createQuery }
}

function group(generated: Iterable<GeneratedFile>): { files: Listed[]; groups: Group[] } {
  const groups = new Map<string, Group>()
  const files: Listed[] = []
  for (const file of generated) {
    if (!file.published) continue
    const ofFile = groupOf(groups, file)
    ofFile.count++
    files.push({ id: file.id, createdOn: file.created_on, moduleId: file.edx_module_id, group: ofFile })
  }
  // Newest first. All texts have one form, so they sort like the times.
  files.sort((a, b) => (a.createdOn === b.createdOn ? b.id - a.id : a.createdOn < b.createdOn ? 1 : -1))
  return { files, groups: [...groups.values()] }
}

function groupOf(groups: Map<string, Group>, file: GeneratedFile): Group {
  const name = `${file.run_id} ${file.content_feature_type.join()}`
  const known = groups.get(name)
  if (known !== undefined) return known
  const { run_id: runId, resource_id: resourceId, offered_by, platform } = file
  const tags = file.content_feature_type.map(tag => tag.toLowerCase())
  const made = { runId, resourceId, unit: offered_by.code, platform: platform.code, tags, count: 0 }
  groups.set(name, made)
  return made
}

function countIn(groups: readonly Group[], filter: Filter): number {
  return groups.reduce((count, each) => (filter(each, undefined) ? count + each.count : count), 0)
}

interface QuerySpec {
  args: [string, string][]
  filter: Filter
  /** Set when it cannot be computed from the groups. */
  count?: number
}

type Kind = (random: Random) => QuerySpec

const noFilter: Kind = () => ({ args: [], filter: () => true })

function createKinds(files: readonly Listed[], groups: readonly Group[]): Record<string, Kind> {
  const tags = [...new Set(groups.flatMap(each => each.tags))]
  const modules = files.filter(({ moduleId }) => moduleId !== null)
  const anyGroup = (random: Random) => groups[Math.floor(random() * groups.length)] as Group

  /** One value in one of two cases, else several. */
  function some<Value>(random: Random, severalMax: number, make: () => Value): Set<Value> {
    const count = random() < 0.5 ? 1 : 1 + Math.floor(random() * severalMax)
    return new Set(Array.from({ length: count }, make))
  }

  const offeredBy: Kind = random => {
    const units = some(random, 2, () => anyGroup(random).unit)
    return { args: [['offered_by', [...units].join(',')]], filter: group => units.has(group.unit) }
  }
  const platform: Kind = random => {
    const platforms = some(random, 3, () => anyGroup(random).platform)
    return { args: [...platforms].map(code => ['platform', code]), filter: group => platforms.has(group.platform) }
  }
  const runs: Kind = random => {
    const ids = some(random, 50, () => anyGroup(random).runId)
    return { args: [...ids].map(id => ['run_id', String(id)]), filter: group => ids.has(group.runId) }
  }
  const resources: Kind = random => {
    const ids = some(random, 3, () => anyGroup(random).resourceId)
    return { args: [...ids].map(id => ['resource_id', id]), filter: group => ids.has(group.resourceId) }
  }
  const featureTypes: Kind = random => {
    const wanted = some(random, 3, () => tags[Math.floor(random() * tags.length)] ?? '')
    const args = [...wanted].map(tag => ['content_feature_type', tag.toUpperCase()] as [string, string])
    return { args, filter: group => group.tags.some(tag => wanted.has(tag)) }
  }
  const moduleIds: Kind = random => {
    const wanted = some(random, 3, () => modules[Math.floor(random() * modules.length)]?.moduleId ?? '')
    const args = [...wanted].map(id => ['edx_module_id', id.toUpperCase()] as [string, string])
    return { args, filter: (_, moduleId) => wanted.has(moduleId ?? ''), count: wanted.size }
  }
  return {
    'no filter': noFilter,
    offered_by: offeredBy,
    platform,
    run_id: runs,
    resource_id: resources,
    content_feature_type: featureTypes,
    edx_module_id: moduleIds,
    'offered_by and content_feature_type': both(offeredBy, featureTypes),
    'platform, run_id and content_feature_type': both(platform, both(runs, featureTypes)),
  }
}

function both(first: Kind, second: Kind): Kind {
  return random => {
    const [a, b] = [first(random), second(random)]
    return {
      args: [...a.args, ...b.args],
      filter: (group, moduleId) => a.filter(group, moduleId) && b.filter(group, moduleId),
    }
  }
}
