/** The form of a decoder, tried on recent messages while it is typed. */

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { DecoderDetails, RecentMessagePage, TriedDecoder } from '../../../api/admin/answers.ts'
import { addressOf } from '../../client/address.ts'
import { type PlaceError, sendChange } from '../../client/send-change.ts'
import { useResource, useRested } from '../../client/use-resource.ts'
import type { Actions } from '../../parts/use-actions.tsx'
import { t } from '../../words/words.ts'
import {
  type DecoderForm,
  declarationOf,
  emptyForm,
  faultsOf,
  formFrom,
  formOf,
  type RuleForm,
} from './decoder-form.ts'
import { TriedMessages } from './tried-messages.tsx'

export interface DecoderEditorProps {
  /** Undefined for a new one. */
  decoder?: DecoderDetails
  actions: Actions
  onClose: () => void
}

type Faults = readonly PlaceError[]
type Place = RecentMessagePage['places'][number]

export function DecoderEditor({ decoder, actions, onClose }: DecoderEditorProps) {
  const [form, setForm] = useState(decoder === undefined ? emptyForm : formOf(decoder))
  const change = (changes: Partial<DecoderForm>) => setForm(form => ({ ...form, ...changes }))
  const { messages, faults } = useTrial(form)
  const [chosen, setChosen] = useState<Place>()
  const sample = useSample(chosen)
  const title = decoder === undefined ? t('Add a decoder') : t('Edit {name}', { name: decoder.name })
  const save = async () => (await saveDecoder(decoder, form, actions)) && onClose()
  const text = (name: keyof DecoderForm & ('topics' | 'device' | 'time' | 'values'), label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      fault={faultsOf(faults, name)}
      isLong={true}
      value={form[name]}
      onInput={value => change({ [name]: value })}
    />
  )
  return (
    <form
      class="card"
      aria-label={title}
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      <h2>{title}</h2>
      {decoder === undefined ? (
        <Places
          onChoose={place => {
            setForm(formFrom(place, form))
            setChosen(place)
          }}
        />
      ) : null}
      <Sample text={messages[0]?.text ?? sample} />
      <div class="fields">
        {decoder === undefined ? (
          <TextField
            label={t('Name')}
            hint={t('Webhook /in/NAME/KEY: a-z, 0-9, _ and -')}
            fault={faultsOf(faults, 'name')}
            value={form.name}
            onInput={name => change({ name })}
          />
        ) : null}
        {text(
          'topics',
          t('Topics'),
          t('One a line, such as {topic}; empty for webhooks alone', { topic: 'garden/{device}' }),
        )}
        {text(
          'device',
          t('Device'),
          t('{device} of the topic, {id} of the message, {query} of the address, or a fixed name', {
            device: '{device}',
            id: '{/id}',
            query: '{?id}',
          }),
        )}
        {text('time', t('Time'), t('JSON pointer such as /ts; empty for the time of receipt'))}
        {text('values', t('Values'), t('JSON pointer such as /data; empty for the whole message'))}
        <TextField
          label={t('List')}
          hint={t('JSON pointer to a list of readings, / for the message; empty for one reading')}
          fault={faultsOf(faults, 'each')}
          value={form.each}
          onInput={each => change({ each })}
        />
      </div>
      <Rules rules={form.rules} faults={faults} onChange={rules => change({ rules })} />
      <Check
        label={t('Leave out fields without a rule')}
        isOn={form.dropsOthers}
        onChange={dropsOthers => change({ dropsOthers })}
      />
      <Check label={t('Read numbers in texts')} isOn={form.hasTexts} onChange={hasTexts => change({ hasTexts })} />
      <TriedMessages messages={messages} />
      <div class="actions">
        <button type="submit" class="button strong" disabled={actions.isBusy}>
          {decoder === undefined ? t('Add') : t('Save')}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  )
}

/** True: it is saved. */
async function saveDecoder(decoder: DecoderDetails | undefined, form: DecoderForm, actions: Actions): Promise<boolean> {
  const body = declarationOf(form)
  const { name } = decoder ?? form
  const saved =
    decoder === undefined
      ? await actions.change('POST', '/decoders', { name: name.trim(), ...body }, t('{name} is added.', { name }))
      : await actions.change('PATCH', `/decoders/${name}`, body, t('{name} is changed.', { name }))
  return saved !== undefined
}

/** The result of the last valid form stays while another one has faults. */
function useTrial(form: DecoderForm): { messages: TriedDecoder['messages']; faults: Faults } {
  const [messages, setMessages] = useState<TriedDecoder['messages']>([])
  const [faults, setFaults] = useState<Faults>([])
  const name = form.name.trim()
  const declaration = declarationOf(form)
  const isEmpty = declaration.device.length === 0
  const body = useRested(isEmpty ? undefined : JSON.stringify({ ...declaration, ...(name !== '' && { name }) }))
  useEffect(() => {
    if (body === undefined) {
      setFaults([])
      return undefined
    }
    let isLatest = true
    void sendChange<TriedDecoder>('POST', addressOf('/api/admin/decoders/try'), JSON.parse(body)).then(sent => {
      if (!isLatest) return
      if (sent.ok) setMessages(sent.value.messages)
      setFaults(sent.ok ? [] : sent.errors)
    })
    return () => {
      isLatest = false
    }
  }, [body])
  return { messages, faults }
}

/** The latest message of a place, for a decoder that is not valid yet. */
function useSample(place: Place | undefined): string | undefined {
  const query = place && new URLSearchParams({ [place.way === 'mqtt' ? 'topic' : 'webhook']: place.place })
  const state = useResource<RecentMessagePage>(query && addressOf(`/api/admin/decoders/messages?${query}`))
  return state.kind === 'ready' ? state.value.messages[0]?.text : undefined
}

function Sample({ text }: { text: string | undefined }) {
  if (text === undefined) return null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled area needs the focus for its keys
    <section class="sample" tabIndex={0} aria-label={t('Latest message')}>
      <pre>{JSON.stringify(JSON.parse(text), undefined, 2)}</pre>
    </section>
  )
}

function Places({ onChoose }: { onChoose: (place: Place) => void }) {
  const id = useId()
  const state = useResource<RecentMessagePage>(addressOf('/api/admin/decoders/messages'), { everyMs: 5000 })
  const { places = [] } = state.kind === 'ready' || state.kind === 'stale' ? state.value : {}
  if (places.length === 0) {
    return (
      <p class="soft">
        {t(
          'No messages were received since the start of the service. Let the sensor send, or write the decoder first.',
        )}
      </p>
    )
  }
  return (
    <div class="field from-messages">
      <label for={id}>{t('Recent messages')}</label>
      <select
        id={id}
        onChange={({ currentTarget }) => {
          const place = places[Number(currentTarget.value)]
          if (place !== undefined) onChoose(place)
        }}
      >
        <option value="">{t('Choose a topic or webhook')}</option>
        {places.map(({ way, place, count }, at) => (
          <option key={`${way} ${place}`} value={at}>
            {`${place} (${way === 'mqtt' ? 'MQTT' : 'webhook'}, ${count})`}
          </option>
        ))}
      </select>
    </div>
  )
}

interface TextFieldProps {
  label: string
  hint?: string
  fault: string | undefined
  value: string
  isLong?: boolean
  onInput: (value: string) => void
}

function TextField({ label, hint, fault, value, isLong = false, onInput }: TextFieldProps) {
  const id = useId()
  const common = {
    id,
    value,
    spellcheck: false,
    'aria-invalid': fault !== undefined,
    'aria-describedby': `${id}-hint ${id}-fault`,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onInput(currentTarget.value),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isLong ? <textarea {...common} rows={1} /> : <input {...common} autocomplete="off" />}
      {hint === undefined ? null : (
        <span class="soft" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      <Fault id={`${id}-fault`}>{fault}</Fault>
    </div>
  )
}

function Fault({ id, children }: { id: string; children: ComponentChildren }) {
  return (
    <span class="error" id={id}>
      {children}
    </span>
  )
}

function Check({ label, isOn, onChange }: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {label}
    </label>
  )
}

const ruleFields = [
  ['path', t('Field')],
  ['metric', t('Metric')],
  ['unit', t('Unit')],
] as const

interface RulesProps {
  rules: readonly RuleForm[]
  faults: Faults
  onChange: (rules: readonly RuleForm[]) => void
}

function Rules({ rules, faults, onChange }: RulesProps) {
  return (
    <fieldset class="rules">
      <legend>{t('Fields')}</legend>
      <p class="soft">
        {t(
          "Fields keep their names unless a rule names a metric. A rule without a metric leaves its field out. The unit is the sender's, such as °F; * stands for any text and # for a number.",
        )}
      </p>
      {rules.map((rule, at) => (
        <div class="rule" key={at}>
          {ruleFields.map(([name, label]) => (
            <TextField
              key={name}
              label={label}
              fault={faultsOf(faults, `fields[${at}].${name}`)}
              value={rule[name]}
              onInput={value => onChange(rules.with(at, { ...rule, [name]: value }))}
            />
          ))}
          <button type="button" class="button" onClick={() => onChange(rules.toSpliced(at, 1))}>
            {t('Remove')}
            <span class="unseen"> {t('rule {number}', { number: at + 1 })}</span>
          </button>
        </div>
      ))}
      <button type="button" class="button" onClick={() => onChange([...rules, { path: '', metric: '', unit: '' }])}>
        {t('Add a rule')}
      </button>
    </fieldset>
  )
}
