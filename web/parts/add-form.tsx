/** A form behind a button, whose fields become the body of a request. */

import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { t } from '../words/words.ts'

export interface FormField {
  name: string
  label: string
  kind?: 'text' | 'email' | 'number' | 'datetime-local' | 'check' | 'long' | 'choice'
  hint?: string
  isRequired?: boolean
  /** Folded with others under More. */
  isMore?: boolean
  value?: string | number | boolean | null
  /** The options of a choice. */
  choices?: readonly Choice[]
  /** Offered while something is typed. */
  suggestions?: readonly Choice[]
}

interface Choice {
  value: string
  text: string
}

export type FormValues = Record<string, string | number | boolean | null>

export interface AddFormProps {
  /** The title of the button that opens it. */
  title: string
  verb: string
  fields: readonly FormField[]
  isBusy: boolean
  /** True for the first action of a page. */
  isStrong?: boolean
  isOpen?: boolean
  /** Fields that are left empty are null. True: it is done, and the form closes. */
  onSend: (values: FormValues) => Promise<boolean>
  onClose?: () => void
  children?: ComponentChildren
}

export function AddForm(props: AddFormProps) {
  const { title, verb, fields, isBusy, isStrong = false, isOpen = false, onSend, onClose, children } = props
  const [open, setOpen] = useState(isOpen)
  const close = () => {
    setOpen(false)
    onClose?.()
  }
  if (!open) {
    return (
      <button type="button" class={isStrong ? 'button strong' : 'button'} onClick={() => setOpen(true)}>
        {title}
      </button>
    )
  }
  return (
    <form
      class="card"
      aria-label={title}
      onSubmit={event => {
        event.preventDefault()
        const data = new FormData(event.currentTarget)
        void onSend(Object.fromEntries(fields.map(field => [field.name, fieldValue(field, data)]))).then(
          isDone => isDone && close(),
        )
      }}
    >
      <h2>{title}</h2>
      {children}
      <Fields fields={fields.filter(({ isMore = false }) => !isMore)} />
      {fields.some(({ isMore }) => isMore) ? (
        <details>
          <summary>{t('More')}</summary>
          <Fields fields={fields.filter(({ isMore }) => isMore)} />
        </details>
      ) : null}
      <div class="actions">
        <button type="submit" class="button strong" disabled={isBusy}>
          {verb}
        </button>
        <button type="button" class="button" onClick={close}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  )
}

function Fields({ fields }: { fields: readonly FormField[] }) {
  return (
    <div class="fields">
      {fields.map(field => (
        <Field key={field.name} {...field} />
      ))}
    </div>
  )
}

function fieldValue({ name, kind }: FormField, data: FormData): string | number | boolean | null {
  const value = data.get(name)
  if (kind === 'check') return value !== null
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '') return null
  return kind === 'number' ? Number(text) : text
}

function Field({ name, label, kind = 'text', hint, isRequired = false, value, choices, suggestions }: FormField) {
  const id = useId()
  if (kind === 'check') {
    return (
      <label class="check">
        <input type="checkbox" name={name} defaultChecked={value === true} />
        {label}
      </label>
    )
  }
  const text = value === undefined || value === null ? '' : String(value)
  const common = {
    id,
    name,
    required: isRequired,
    defaultValue: text,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {kind === 'long' ? <textarea {...common} rows={8} spellcheck={false} /> : null}
      {kind === 'choice' ? <Choices {...common} choices={choices ?? []} /> : null}
      {kind === 'long' || kind === 'choice' ? null : (
        <input
          {...common}
          type={kind}
          step={kind === 'number' ? 'any' : undefined}
          autocomplete="off"
          list={suggestions === undefined ? undefined : `${id}-list`}
        />
      )}
      {hint === undefined ? null : (
        <span class="soft" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {suggestions === undefined ? null : (
        <datalist id={`${id}-list`}>
          <Options choices={suggestions} />
        </datalist>
      )}
    </div>
  )
}

interface ChoicesProps {
  id: string
  name: string
  defaultValue: string
  'aria-describedby': string | undefined
  choices: readonly Choice[]
}

function Choices({ id, name, defaultValue, choices, 'aria-describedby': describedBy }: ChoicesProps) {
  return (
    <select id={id} name={name} aria-describedby={describedBy}>
      <Options choices={choices} selected={defaultValue} />
    </select>
  )
}

function Options({ choices, selected }: { choices: readonly Choice[]; selected?: string }) {
  return (
    <>
      {choices.map(({ value, text }) => (
        <option key={value} value={value} selected={selected === undefined ? undefined : value === selected}>
          {text}
        </option>
      ))}
    </>
  )
}
