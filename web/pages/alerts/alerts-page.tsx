/** The alerts page: alerts, rules and channels, each section at an address. */

import { useTitle } from '../../client/tab.ts'
import { lazy } from '../../parts/loading.tsx'
import { type Section, SectionNav } from '../../parts/section-nav.tsx'
import '../../parts/managed.css'
import './alerts.css'
import { t } from '../../words/words.ts'
import { AlertsSection } from './alerts-section.tsx'
import { ChannelsSection } from './channels-section.tsx'
import { DeliveriesSection } from './deliveries-section.tsx'
import { RulesSection } from './rules-section.tsx'
import { SilencesSection } from './silences-section.tsx'

const sections: readonly Section[] = [
  { path: '', name: t('Alerts'), Shown: AlertsSection },
  { path: 'rules', name: t('Rules'), Shown: RulesSection },
  { path: 'channels', name: t('Channels'), Shown: ChannelsSection },
  { path: 'silences', name: t('Silences'), Shown: SilencesSection },
  { path: 'deliveries', name: t('Deliveries'), Shown: DeliveriesSection },
]

/** The rule editor loads with its charts. */
const RuleEditor = lazy(t('rule'), () => import('./rule-editor.tsx').then(module => module.RuleEditor))

/** `rest`: a section, and behind it perhaps the rule that is edited. */
export function AlertsPage({ rest }: { rest: string }) {
  const [path = '', id, ...more] = rest.split('/')
  const isEditor = path === 'rules' && id !== undefined && /^(?:new|\d{1,10})$/.test(id) && more.length === 0
  const section = rest === path || isEditor ? sections.find(one => one.path === path) : undefined
  const name = isEditor ? (id === 'new' ? t('New rule') : t('Rule')) : (section?.name ?? t('Not found'))
  useTitle(section === undefined || section.path === '' ? t('Alerts') : t('{name} – Alerts', { name }))
  return (
    <div class="managed alerts">
      <SectionNav page="/alerts" sections={sections} current={section} />
      <h1>{name}</h1>
      {isEditor ? (
        <RuleEditor key={id} id={id === 'new' ? undefined : Number(id)} />
      ) : section === undefined ? (
        <p>{t('There is no such section.')}</p>
      ) : (
        <section.Shown key={section.path} />
      )}
    </div>
  )
}
