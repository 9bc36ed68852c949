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
import { t, tn } from '../../words/words.ts'
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
    is_active ? 'silent now' : 'not at present',
    until === null ? (
      <>
        since <Moment at={from} />
      </>
    ) : (
      <>
        <Moment at={from} /> to <Moment at={until} />
      </>
    ),
    weekly === null ? undefined : weeklyText(weekly),
    rule_id === null ? undefined : `of rule ${rule_id} alone`,
    reason,
    `by ${created_by}`,
  ]
  const end = () => void actions.change('DELETE', `/${id}`, undefined, `The silence of ${name} has ended.`)
  return (
    <Record name={name} facts={facts}>
      <RowButton name={name} text="End" onClick={end} />
    </Record>
  )
}

const hourMs = 3_600_000
const lengths = { '1': '1 hour', '4': '4 hours', '24': '1 day', '168': '1 week', weekly: 'each week' } as const
type Length = keyof typeof lengths

const reasonField: FormField = { name: 'reason', label: 'Reason' }
const weeklyFields: FormField[] = [
  {
    name: 'days',
    label: 'Days',
    hint: '1 is Monday, 7 is Sunday; with commas between them.',
    value: '6, 7',
    isRequired: true,
  },
  { name: 'from', label: 'From', hint: 'For example 22:00, in the time zone of the service.', isRequired: true },
  { name: 'until', label: 'Until', hint: 'On the next day if it is not later.', isRequired: true },
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
    const done = `${selectorText(chosen)}: no notifications.`
    return (await actions.change('POST', '', body satisfies Partial<NewSilence>, done)) !== undefined
  }
  const fields = length === 'weekly' ? [...weeklyFields, reasonField] : [reasonField]
  return (
    <AddForm
      title="New silence"
      isStrong
      verb="Add"
      fields={fields}
      isBusy={actions.isBusy}
      isOpen={device !== null}
      onSend={send}
    >
      <div class="fields">
        <SelectorFields form={selector} onChange={change => setSelector({ ...selector, ...change })} />
        <ChoiceField label="For" value={length} names={lengths} onChange={setLength} />
      </div>
    </AddForm>
  )
}

/** A text names the missing field. */
function readSelector({ covers, tags, devices }: SelectorForm): NewSilence['selector'] | string {
  if (covers === 'all') return { all: true }
  if (covers === 'devices') return devices.length === 0 ? 'Choose a device.' : { devices: [...devices] }
  const named = listIn(tags)
  return named.length === 0 ? 'Name a tag, as site:berlin.' : { tags: named }
}

function timesOf(length: Length, { days, from, until }: FormValues): Pick<NewSilence, 'until' | 'weekly'> {
  if (length !== 'weekly') {
    return { until: new Date(Date.now() + Number(length) * hourMs).toISOString(), weekly: null }
  }
  const window = { days: listIn(String(days)).map(Number), from: String(from), until: String(until) }
  return { until: null, weekly: [window] }
}
