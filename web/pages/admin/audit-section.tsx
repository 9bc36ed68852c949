/** Who did what, newest first. */

import type { AuditPage } from '../../../auth/audit-page.ts'
import { ListSection } from '../../parts/list-section.tsx'
import { Record } from '../../parts/record.tsx'
import { timeText } from '../../text/utc.ts'

export function AuditSection() {
  return (
    <ListSection
      path="/audit"
      noun="entries"
      itemsOf={(page: AuditPage) => page.entries}
      keyOf={entry => entry.id}
      row={({ at, actor, action, subject, details }) => (
        <Record
          name={`${action} ${subject}`}
          facts={[timeText(at), actor, Object.keys(details).length === 0 ? undefined : JSON.stringify(details)]}
        />
      )}
    />
  )
}
