/** The headings of groups, each of which folds its rows away. */

import type { RowHeading } from '../../parts/virtual-table.tsx'
import { type DeviceGroup, groupText } from './fleet-groups.ts'

export interface GroupsProps {
  groups: readonly DeviceGroup[]
  folded: ReadonlySet<string>
  isComplete: boolean
  onFold: (id: string) => void
}

export function headingsOf({ groups, folded, isComplete, onFold }: GroupsProps): RowHeading[] {
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
