/** The table of the devices, in groups where the address says so. */

import { useMemo, useState } from 'preact/hooks'
import { groupsOf } from './fleet-groups.ts'
import { FleetTable, type FleetTableProps } from './fleet-table.tsx'
import { headingsOf } from './group-headings.tsx'
import type { Fleet } from './open-fleet.ts'
import { useGroups } from './use-groups.ts'

export interface GroupedTableProps extends Omit<FleetTableProps, 'headings'> {
  fleet: Fleet
}

export function GroupedTable({ fleet, ...table }: GroupedTableProps) {
  const { rows, view } = table
  const { group } = view
  const { groups: counted, firing } = useGroups(fleet, group)
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const isComplete = fleet.isComplete.value
  const hasAll = !isComplete && view.search.trim() === '' && view.states.length === 0
  const shown = useMemo(() => {
    if (group === undefined) return undefined
    const groups = groupsOf(rows, group, { groups: counted, firing }, hasAll)
    const onFold = (id: string) =>
      setFolded(before => new Set(before.has(id) ? [...before].filter(other => other !== id) : [...before, id]))
    return {
      rows: groups.flatMap(({ id, rows }) => (folded.has(id) ? [] : rows)),
      headings: headingsOf({ groups, folded, isComplete, onFold }),
    }
  }, [rows, group, counted, firing, folded, isComplete, hasAll])
  return <FleetTable {...table} {...shown} />
}
