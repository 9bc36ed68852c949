/** Who did what, newest first. */

import { ListSection } from './list-section.tsx'
import { Record } from './record.tsx'
import type { AuditEntry } from './shapes.ts'
import { timeText } from './utc.ts'

export function AuditSection() {
  return (
    <ListSection<{ entries: AuditEntry[]; next: number | null }, AuditEntry>
      path="/audit"
      noun="entries"
      itemsOf={page => page.entries}
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
