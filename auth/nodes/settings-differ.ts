/** Compares the settings of nodes: nodes that decide differently must not run together. */

import type { NodeSettings } from './node-rows.ts'

export class SettingsDiffer extends Error {
  constructor(names: readonly string[]) {
    super(
      `Other nodes on this PostgreSQL have other values of ${names.join(', ')}: ` +
        'give all nodes the same, or stop the others first.',
    )
  }
}

/** Names of settings that differ from another node's. A node of another version may lack some. */
export function differentAdvised(own: NodeSettings, others: readonly NodeSettings[]): string[] {
  const names = Object.keys(own).filter(name => others.some(other => name in other && other[name] !== own[name]))
  return names.toSorted((one, other) => one.localeCompare(other))
}

export function advisedFault(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `nodes have different values of ${names.join(', ')}: give all nodes the same`
}

/** Names of settings that differ from another node's, or that only one of the two has. */
export function differentSettings(own: NodeSettings, others: readonly NodeSettings[]): string[] {
  const names = new Set<string>()
  for (const other of others) {
    for (const name of Object.keys({ ...own, ...other })) if (own[name] !== other[name]) names.add(name)
  }
  return [...names].sort()
}
