/** A rule as a form, with its preview beside it: a new one, or one that is there. */

import { useState } from 'preact/hooks'
import type { Channel } from '../../../alerts/core/channel.ts'
import type { Rule } from '../../../alerts/core/rule.ts'
import { addressOf, showPage, urlArguments } from '../../client/address.ts'
import { lastValue, worstState } from '../../client/resource-state.ts'
import { sendChange } from '../../client/send-change.ts'
import { useResource } from '../../client/use-resource.ts'
import { Banner, FailureBanner, Skeleton } from '../../parts/loading.tsx'
import { t } from '../../words/words.ts'
import { ruleSentence } from './alert-words.ts'
import { ConditionFields } from './condition-fields.tsx'
import { NotificationFields } from './notification-fields.tsx'
import { readForm } from './read-rule.ts'
import { formOf, presetForm, type RuleForm } from './rule-form.ts'
import { RulePreview } from './rule-preview.tsx'
import { SelectorFields } from './selector-fields.tsx'
import { type KnownFleet, useFleet } from './use-fleet.ts'

/** All of an owner. */
const channelsMax = 100

export function RuleEditor({ id }: { id: number | undefined }) {
  const fleet = useFleet()
  const rule = useResource<Rule>(id === undefined ? undefined : addressOf(`/api/alert-rules/${id}`))
  const channels = useResource<{ channels: Channel[] }>(addressOf(`/api/alert-channels?limit=${channelsMax}`))
  const loaded = lastValue(rule)
  const known = lastValue(channels)?.channels
  const state = worstState(id === undefined ? [channels] : [rule, channels])
  const isReady = known !== undefined && fleet.isKnown && (id === undefined || loaded !== undefined)
  return (
    <>
      <FailureBanner state={state} timeText={fleet.times.time} />
      {!isReady && state.kind === 'loading' ? <Skeleton name={t('The rule is loading')} /> : null}
      {isReady ? <Editor rule={loaded} channels={known} fleet={fleet} /> : null}
    </>
  )
}

interface EditorProps {
  rule: Rule | undefined
  channels: readonly Channel[]
  fleet: KnownFleet
}

function Editor({ rule, channels, fleet }: EditorProps) {
  const [form, setForm] = useState<RuleForm>(() =>
    rule === undefined ? presetForm(urlArguments.peek(), channels) : formOf(rule, fleet.quantities),
  )
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [mailTo, setMailTo] = useState<string>()
  const change = (changes: Partial<RuleForm>) => setForm(before => ({ ...before, ...changes }))
  const read = readForm(form, fleet.quantities)

  async function save(): Promise<void> {
    if (!read.ok) return setFailure(read.sentence)
    setBusy(true)
    const sentence = await sendRule(rule?.id, read.rule, mailTo)
    setBusy(false)
    setFailure(sentence)
    if (sentence === undefined) showPage('/alerts/rules')
  }

  // The sentence and the preview do not wait for a name.
  const previewed = readForm({ ...form, name: form.name.trim() === '' ? t('This rule') : form.name }, fleet.quantities)
  const notified = channels.filter(({ id, enabled }) => enabled && form.channels.includes(id)).map(({ name }) => name)
  if (mailTo !== undefined) notified.push(mailTo)
  return (
    <div class="editor">
      <form
        aria-label={rule === undefined ? t('New rule') : t('Rule {name}', { name: rule.name })}
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        {failure === undefined ? null : <Banner kind="bad">{failure}</Banner>}
        <div class="card">
          <div class="fields">
            <label class="field">
              {t('Name')}
              <input
                value={form.name}
                required
                maxLength={64}
                autoComplete="off"
                onInput={({ currentTarget }) => change({ name: currentTarget.value })}
              />
            </label>
          </div>
          <p class="rule-sentence">
            {previewed.ok ? ruleSentence(previewed.rule, fleet.quantities, notified) : previewed.sentence}
          </p>
          <div class="fields">
            {form.kind === 'service' ? null : <SelectorFields form={form} onChange={change} />}
            <ConditionFields form={form} fleet={fleet} onChange={change} />
          </div>
        </div>
        <div class="card">
          <h2>{t('Notify')}</h2>
          <NotificationFields
            {...{ form, channels, mailTo, onMailTo: setMailTo }}
            isNew={rule === undefined}
            onChange={change}
          />
          <div class="actions">
            <button type="submit" class="button strong" disabled={isBusy}>
              {rule === undefined ? t('Add the rule') : t('Save')}
            </button>
            <a class="button" href={addressOf('/alerts/rules')}>
              {t('Cancel')}
            </a>
          </div>
        </div>
      </form>
      <RulePreview rule={previewed.ok ? previewed.rule : undefined} fleet={fleet} />
    </div>
  )
}

/** Returns the reason of a refusal, or undefined. With `mailTo`, adds a channel to this address first. */
async function sendRule(id: number | undefined, rule: object & { channels: readonly number[] }, mailTo?: string) {
  let { channels } = rule
  if (mailTo !== undefined) {
    const body = { name: t('My mail'), kind: 'email', settings: { to: mailTo } }
    const added = await sendChange<Channel>('POST', addressOf('/api/alert-channels'), body)
    if (!added.ok) return added.sentence
    channels = [...channels, added.value.id]
  }
  const body = { ...rule, channels }
  const sent =
    id === undefined
      ? await sendChange('POST', addressOf('/api/alert-rules'), body)
      : await sendChange('PATCH', addressOf(`/api/alert-rules/${id}`), body)
  return sent.ok ? undefined : sent.sentence
}
