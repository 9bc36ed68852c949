/** Places in a parsed message: JSON pointers (RFC 6901) without escapes, topics, and the fields of an object with their paths. */

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
