/** The table of the devices, in groups where the address says so. */

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { FiringGroups } from '../../../alerts/core/alert.ts'
import type { FleetGroups } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { firingAlerts } from '../../client/firing.ts'
import { lastValue } from '../../client/resource-state.ts'
import { isSignedIn } from '../../client/session.ts'
import { useRefreshed, useRested } from '../../client/use-resource.ts'
import type { RowHeading } from '../../parts/virtual-table.tsx'
import { type DeviceGroup, type GroupCounts, groupsOf, groupText } from './fleet-groups.ts'
import type { Fleet } from './fleet-list.ts'
import { FleetTable, type FleetTableProps } from './fleet-table.tsx'
import { tagArguments } from './fleet-view.ts'

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

const everyMs = 10_000
/** An event is one of many where a site goes down. */
const restMs = 1_000

/** An undefined `key` has no groups. */
function useGroups({ tags, counts }: Fleet, key: string | undefined): GroupCounts {
  const query = key === undefined ? undefined : `key=${key}${tagArguments(tags)}`
  const groups = useRefreshed<FleetGroups>(query && addressOf(`/api/fleet/groups?${query}`), { everyMs })
  const path = isSignedIn.value ? query : undefined
  const firing = useRefreshed<FiringGroups>(path && addressOf(`/api/alerts/groups?${path}`), { everyMs: 6 * everyMs })
  const states = useRested(JSON.stringify(counts.value ?? null), restMs)
  const alerts = useRested(firingAlerts.value.map(({ id }) => id).join(), restMs)
  useEffect(groups.refresh, [states])
  useEffect(firing.refresh, [alerts])
  return { groups: lastValue(groups.state), firing: lastValue(firing.state) }
}

interface GroupsProps {
  groups: readonly DeviceGroup[]
  folded: ReadonlySet<string>
  isComplete: boolean
  onFold: (id: string) => void
}

/** Headings of groups. Each folds its rows. */
function headingsOf({ groups, folded, isComplete, onFold }: GroupsProps): RowHeading[] {
  let before = 0
  return groups.map(group => {
    const isFolded = folded.has(group.id)
    const heading = {
      key: `heading ${group.id}`,
      before,
      content: (
        <>
          <button type="button" aria-expanded={!isFolded} onClick={() => onFold(group.id)}>
            {group.title}
          </button>
          <span>{groupText(group, isComplete)}</span>
        </>
      ),
    }
    if (!isFolded) before += group.rows.length
    return heading
  })
}
