/** Numbers the distinct names of rows in the order in which they come. A name may have several parts. */

type Node = Map<string, Node | number>

export class NameIndex {
  readonly list: (readonly string[])[] = []
  readonly #root: Node = new Map()

  /** All names of an index have the same number of parts. */
  indexOf(parts: readonly string[]): number {
    let node = this.#root
    const last = parts.length - 1
    for (let at = 0; at < last; at++) node = branchOf(node, parts[at] ?? '')
    const known = node.get(parts[last] ?? '')
    if (typeof known === 'number') return known
    const index = this.list.push([...parts]) - 1
    node.set(parts[last] ?? '', index)
    return index
  }
}

function branchOf(node: Node, part: string): Node {
  const known = node.get(part)
  if (known instanceof Map) return known
  const branch: Node = new Map()
  node.set(part, branch)
  return branch
}
