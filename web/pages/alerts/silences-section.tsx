/** Silences: periods, once or weekly, in which alerts fire without notifications. */

import { useState } from 'preact/hooks'
import type { NewSilence, Silence } from '../../../alerts/core/silence.ts'
import { urlArguments } from '../../client/address.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record, RowButton } from '../../parts/record.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { t, tc, tn, tp } from '../../words/words.ts'
import { selectorText, weeklyText } from './alert-words.ts'
import { listIn } from './read-rule.ts'
import { SelectorFields, type SelectorForm } from './selector-fields.tsx'

interface SilencePage {
  silences: Silence[]
  next: number | null
}

export function SilencesSection() {
  return (
    <ListSection
      api="/api/silences"
      path=""
      noun={t('silences')}
      counted={count => tn(count, '{count} silence.', '{count} silences.')}
      pageArgument="after"
      itemsOf={(page: SilencePage) => page.silences}
      keyOf={silence => silence.id}
      row={(silence, actions) => <SilenceRow silence={silence} actions={actions} />}
    >
      {actions => <NewSilenceForm actions={actions} />}
    </ListSection>
  )
}

function SilenceRow({ silence, actions }: { silence: Silence; actions: Actions }) {
  const { id, selector, rule_id, from, until, weekly, reason, created_by, is_active } = silence
  const name = selectorText(selector)
  const facts = [
    is_active ? t('silent now') : t('not at present'),
    until === null
      ? tp('since {moment}', { moment: <Moment at={from} /> })
      : tp('{from} to {until}', { from: <Moment at={from} />, until: <Moment at={until} /> }),
    weekly === null ? undefined : weeklyText(weekly),
    rule_id === null ? undefined : t('of rule {rule} alone', { rule: rule_id }),
    reason,
    t('by {name}', { name: created_by }),
  ]
  const end = () => void actions.change('DELETE', `/${id}`, undefined, t('The silence of {name} has ended.', { name }))
  return (
    <Record name={name} facts={facts}>
      <RowButton name={name} text={t('End')} onClick={end} />
    </Record>
  )
}

const hourMs = 3_600_000
const lengths = {
  '1': t('1 hour'),
  '4': t('4 hours'),
  '24': t('1 day'),
  '168': t('1 week'),
  weekly: t('each week'),
} as const
type Length = keyof typeof lengths

const reasonField: FormField = { name: 'reason', label: t('Reason') }
const weeklyFields: FormField[] = [
  {
    name: 'days',
    label: t('Days'),
    hint: t('1 is Monday, 7 is Sunday; with commas between them.'),
    value: '6, 7',
    isRequired: true,
  },
  { name: 'from', label: t('From'), hint: t('For example 22:00, in the time zone of the service.'), isRequired: true },
  { name: 'until', label: tc('time', 'Until'), hint: t('On the next day if it is not later.'), isRequired: true },
]

function NewSilenceForm({ actions }: { actions: Actions }) {
  const device = urlArguments.peek().get('device')
  const [selector, setSelector] = useState<SelectorForm>({
    covers: device === null ? 'all' : 'devices',
    tags: '',
    devices: device === null ? [] : [device],
  })
  const [length, setLength] = useState<Length>('1')
  const send = async (values: FormValues) => {
    const chosen = readSelector(selector)
    if (typeof chosen === 'string') {
      actions.refuse(chosen)
      return false
    }
    const body = { selector: chosen, ...timesOf(length, values), reason: String(values['reason'] ?? '') }
    const done = t('{devices}: no notifications.', { devices: selectorText(chosen) })
    return (await actions.change('POST', '', body satisfies Partial<NewSilence>, done)) !== undefined
  }
  const fields = length === 'weekly' ? [...weeklyFields, reasonField] : [reasonField]
  return (
    <AddForm
      title={t('New silence')}
      isStrong
      verb={t('Add')}
      fields={fields}
      isBusy={actions.isBusy}
      isOpen={device !== null}
      onSend={send}
    >
      <div class="fields">
        <SelectorFields form={selector} onChange={change => setSelector({ ...selector, ...change })} />
        <ChoiceField label={t('For')} value={length} names={lengths} onChange={setLength} />
      </div>
    </AddForm>
  )
}

/** A text names the missing field. */
function readSelector({ covers, tags, devices }: SelectorForm): NewSilence['selector'] | string {
  if (covers === 'all') return { all: true }
  if (covers === 'devices') return devices.length === 0 ? t('Choose a device.') : { devices: [...devices] }
  const named = listIn(tags)
  return named.length === 0 ? t('Name a tag, as site:berlin.') : { tags: named }
}

function timesOf(length: Length, { days, from, until }: FormValues): Pick<NewSilence, 'until' | 'weekly'> {
  if (length !== 'weekly') {
    return { until: new Date(Date.now() + Number(length) * hourMs).toISOString(), weekly: null }
  }
  const window = { days: listIn(String(days)).map(Number), from: String(from), until: String(until) }
  return { until: null, weekly: [window] }
}
