/** The admin page for administrators, with an address for each section. Each section calls the admin API by the session. */

import { useTitle } from '../../client/tab.ts'
import { type Section, SectionNav } from '../../parts/section-nav.tsx'
import { AccountsSection, InvitationsSection } from './accounts-section.tsx'
import '../../parts/managed.css'
import './admin.css'
import type { AuditPage } from '../../../auth/audit-page.ts'
import { ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { auditFacts, auditSentence } from '../../text/audit-words.ts'
import { t, tn } from '../../words/words.ts'
import { KeysSection, TenantsSection } from './credentials-sections.tsx'
import { DecodersSection } from './decoders-section.tsx'
import { DevicesSection } from './devices-section.tsx'
import { MetricsSection } from './metrics-section.tsx'
import { DeadLettersSection, RejectionsSection, UnknownDevicesSection } from './refused-sections.tsx'
import { StationsSection } from './stations-section.tsx'
import { StatusSection } from './status-section.tsx'

const sections: readonly Section[] = [
  { path: '', name: t('Devices'), Shown: DevicesSection },
  { path: 'unknown-devices', name: t('Unknown devices'), Shown: UnknownDevicesSection },
  { path: 'decoders', name: t('Decoders'), Shown: DecodersSection },
  { path: 'status', name: t('Status'), Shown: StatusSection },
  { path: 'metrics', name: t('Metrics'), Shown: MetricsSection },
  { path: 'accounts', name: t('Accounts'), Shown: AccountsSection },
  { path: 'invitations', name: t('Invitations'), Shown: InvitationsSection },
  { path: 'keys', name: t('API keys'), Shown: KeysSection },
  { path: 'stations', name: t('Stations'), Shown: StationsSection },
  { path: 'tenants', name: t('Tenants'), Shown: TenantsSection },
  { path: 'rejections', name: t('Rejections'), Shown: RejectionsSection },
  { path: 'dead-letters', name: t('Dead letters'), Shown: DeadLettersSection },
  { path: 'audit', name: t('Audit'), Shown: AuditSection },
]

export function AdminPage({ rest }: { rest: string }) {
  const section = sections.find(({ path }) => path === rest)
  useTitle(section === undefined ? t('Admin') : t('{name} – Admin', { name: section.name }))
  return (
    <div class="managed">
      <SectionNav page="/admin" sections={sections} current={section} />
      <h1>{section?.name ?? t('Not found')}</h1>
      {section === undefined ? <p>{t('There is no such section.')}</p> : <section.Shown key={section.path} />}
    </div>
  )
}

/** The audit log, newest first. */
function AuditSection() {
  return (
    <ListSection
      path="/audit"
      noun={t('entries')}
      counted={count => tn(count, '{count} entry.', '{count} entries.')}
      itemsOf={({ entries, names }: AuditPage) => entries.map(entry => ({ ...entry, names }))}
      keyOf={entry => entry.id}
      row={entry => <AuditRow entry={entry} names={entry.names} />}
    />
  )
}

function AuditRow({ entry, names }: { entry: AuditPage['entries'][number]; names: AuditPage['names'] }) {
  const facts = auditFacts(entry.details)
  const line = (
    <>
      <span class="soft">
        <Moment at={entry.at} />
      </span>
      <span>{auditSentence(entry, names)}</span>
    </>
  )
  if (facts.length === 0) return <p class="deed">{line}</p>
  return (
    <details>
      <summary class="deed">{line}</summary>
      <table class="changed">
        <caption class="unseen">{t('Subject')}</caption>
        <tbody>
          {facts.map(({ name, text }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
