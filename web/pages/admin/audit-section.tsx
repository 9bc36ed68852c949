/** Who did what, newest first. */

import type { AuditPage } from '../../../auth/audit-page.ts'
import { ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { auditFacts, auditSentence } from '../../text/audit-words.ts'

export function AuditSection() {
  return (
    <ListSection
      path="/audit"
      noun="entries"
      itemsOf={(page: AuditPage) => page.entries}
      keyOf={entry => entry.id}
      row={entry => <AuditRow entry={entry} />}
    />
  )
}

function AuditRow({ entry }: { entry: AuditPage['entries'][number] }) {
  const facts = auditFacts(entry.details)
  return (
    <>
      <h2 class="deed">{auditSentence(entry)}</h2>
      <p class="soft">
        <Moment at={entry.at} />
      </p>
      {facts.length === 0 ? null : (
        <table class="changed">
          <caption class="unseen">Subject</caption>
          <tbody>
            {facts.map(({ name, text }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
