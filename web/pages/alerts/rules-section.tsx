/** The rules, and the actions on each. */

import { useRef } from 'preact/hooks'
import type { Rule } from '../../../alerts/core/rule.ts'
import { addressOf } from '../../client/address.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { SeverityBadge } from '../../parts/marks.tsx'
import { Record, RowButton } from '../../parts/record.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import type { Quantities } from '../../text/quantities.ts'
import { t, tn } from '../../words/words.ts'
import { ruleText, selectorText } from './alert-words.ts'
import { useFleet } from './use-fleet.ts'

interface RulePage {
  rules: Rule[]
  next: number | null
}

export function RulesSection() {
  const { quantities } = useFleet()
  return (
    <ListSection
      api="/api/alert-rules"
      path=""
      noun={t('rules')}
      counted={count => tn(count, '{count} rule.', '{count} rules.')}
      pageArgument="after"
      itemsOf={(page: RulePage) => page.rules}
      keyOf={rule => rule.id}
      row={(rule, actions) => <RuleRow rule={rule} quantities={quantities} actions={actions} />}
    >
      {actions => (
        <div class="actions">
          <a class="button strong" href={addressOf('/alerts/rules/new')}>
            {t('New rule')}
          </a>
          <a class="button" href={addressOf('/api/alert-rules/export')} download="alert-rules.json">
            {t('Export')}
          </a>
          <ImportForm actions={actions} />
        </div>
      )}
    </ListSection>
  )
}

function RuleRow({ rule, quantities, actions }: { rule: Rule; quantities: Quantities; actions: Actions }) {
  const { id, name, enabled, selector, severity, channels } = rule
  const facts = [
    ruleText(rule, quantities),
    selectorText(selector),
    channels.length === 0 ? t('no notifications') : tn(channels.length, '{count} channel', '{count} channels'),
    enabled ? undefined : t('off'),
  ]
  const enable = () =>
    void actions.change(
      'PATCH',
      `/${id}`,
      { enabled: !enabled },
      enabled ? t('{name} is off.', { name }) : t('{name} is on.', { name }),
    )
  return (
    <Record
      name={name}
      href={addressOf(`/alerts/rules/${id}`)}
      facts={facts}
      mark={<SeverityBadge severity={severity} />}
    >
      <RowButton name={name} text={enabled ? t('Switch off') : t('Switch on')} onClick={enable} />
      <ConfirmedButton
        title={t('Remove {name}?', { name })}
        text={t('Firing alerts are resolved. All alerts of the rule are removed.')}
        name={name}
        verb={t('Remove')}
        onConfirm={() => void actions.change('DELETE', `/${id}`, undefined, t('{name} is removed.', { name }))}
      />
    </Record>
  )
}

interface Imported {
  added: number
  changed: number
  unchanged: number
}

/** Rules and channels of a file: the same file twice changes nothing. */
function ImportForm({ actions }: { actions: Actions }) {
  const input = useRef<HTMLInputElement>(null)
  const send = async (file: File | undefined) => {
    if (file === undefined) return
    const body = parsed(await file.text())
    if (body === undefined) return actions.refuse(t('{name} is not JSON.', { name: file.name }))
    await actions.change<Imported>('POST', '/import', body, result => {
      const { added, changed, unchanged } = result
      return t('{name}: {added} added, {changed} changed, {unchanged} as they were.', {
        name: file.name,
        added,
        changed,
        unchanged,
      })
    })
    // The same file may be chosen again.
    if (input.current !== null) input.current.value = ''
  }
  return (
    <label class="button file">
      {t('Import')}
      <input
        ref={input}
        class="unseen"
        type="file"
        accept=".json,application/json"
        disabled={actions.isBusy}
        onChange={({ currentTarget }) => void send(currentTarget.files?.[0])}
      />
    </label>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
