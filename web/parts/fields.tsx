/** Fields that a person fills in or chooses from: one of several, a number with its unit, a duration, a device, metrics. */

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { Fleet } from '../../query/live/fleet-shape.ts'
import { addressOf, setArguments } from '../client/address.ts'
import { useResource, useRested } from '../client/use-resource.ts'
import { type Quantities, shownMax } from '../text/quantities.ts'
import { t } from '../words/words.ts'

interface ChoiceFieldProps<Value extends string> {
  label: string
  value: Value
  /** Names in the order of the choices. */
  names: Readonly<Partial<Record<Value, string>>>
  onChange: (value: Value) => void
}

export function ChoiceField<Value extends string>({ label, value, names, onChange }: ChoiceFieldProps<Value>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
        {(Object.keys(names) as Value[]).map(name => (
          <option key={name} value={name}>
            {names[name]}
          </option>
        ))}
      </select>
    </div>
  )
}

interface FilterFieldProps {
  label: string
  /** The argument of the address. */
  argument: string
  chosen: string
  /** The choice without a restriction. */
  all?: string
  choices: readonly (readonly [value: string, text: string])[]
}

/** Restricts a paged list, whose first page is shown then. */
export function FilterField({ label, argument, chosen, all = t('all'), choices }: FilterFieldProps) {
  return (
    <label class="field">
      {label}
      <select
        value={chosen}
        onChange={({ currentTarget }) =>
          setArguments({ [argument]: currentTarget.value, after: undefined, node: undefined })
        }
      >
        <option value="">{all}</option>
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

interface NumberFieldProps {
  label: string
  value: string
  /** Shown behind the number. */
  unit?: string
  hint?: string | undefined
  isRequired?: boolean
  min?: number
  max?: number
  onInput: (value: string) => void
}

export function NumberField({ unit = '', isRequired = false, ...props }: NumberFieldProps) {
  return (
    <LabelledNumber {...props} isRequired={isRequired}>
      {unit === '' ? null : <span class="soft">{unit}</span>}
    </LabelledNumber>
  )
}

type LabelledNumberProps = Omit<NumberFieldProps, 'unit'> & { children: ComponentChildren }

function LabelledNumber({ label, hint, isRequired, onInput, children, ...input }: LabelledNumberProps) {
  const id = useId()
  const hintId = hint === undefined ? undefined : `${id}-hint`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <span class="with-unit">
        <input
          {...input}
          id={id}
          type="number"
          step="any"
          required={isRequired}
          aria-describedby={hintId}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
        {children}
      </span>
      {hint === undefined ? null : (
        <span class="soft" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  )
}

const units = [
  { seconds: 1, name: t('seconds') },
  { seconds: 60, name: t('minutes') },
  { seconds: 3600, name: t('hours') },
  { seconds: 86_400, name: t('days') },
] as const

/** The largest unit that divides the number of seconds. */
function unitOf(seconds: number): number {
  if (seconds === 0) return 60
  return units.findLast(unit => seconds % unit.seconds === 0)?.seconds ?? 1
}

interface DurationFieldProps {
  label: string
  hint?: string | undefined
  seconds: number
  onChange: (seconds: number) => void
}

export function DurationField({ label, hint, seconds, onChange }: DurationFieldProps) {
  const [unit, setUnit] = useState(unitOf(seconds))
  return (
    <LabelledNumber
      label={label}
      hint={hint}
      isRequired
      min={0}
      value={String(seconds / unit)}
      onInput={value => onChange(Math.round(Number(value) * unit))}
    >
      <select
        aria-label={t('{label}: unit', { label })}
        value={unit}
        onChange={({ currentTarget }) => {
          const next = Number(currentTarget.value)
          setUnit(next)
          onChange(Math.round((seconds / unit) * next))
        }}
      >
        {units.map(one => (
          <option key={one.seconds} value={one.seconds}>
            {one.name}
          </option>
        ))}
      </select>
    </LabelledNumber>
  )
}

const suggestionsMax = 50

interface DeviceFieldProps {
  readonly label: string
  readonly value: string
  readonly onChoose: (name: string) => void
}

export function DeviceField({ label, value, onChoose }: DeviceFieldProps) {
  const id = useId()
  const [text, setText] = useState(value)
  // The back button changes it too.
  useEffect(() => setText(value), [value])
  const typed = useRested(text === value ? '' : text.trim())
  const query = new URLSearchParams({ limit: String(suggestionsMax), ...(typed ? { q: typed } : {}) })
  const fleet = useResource<Fleet>(addressOf(`/api/fleet?${query}`))
  const devices = fleet.kind === 'ready' || fleet.kind === 'stale' ? fleet.value.devices : []
  return (
    <label class="device-field" for={id}>
      {label}
      <input
        id={id}
        list={`${id}-devices`}
        value={text}
        maxLength={200}
        autoComplete="off"
        spellcheck={false}
        onInput={event => setText(event.currentTarget.value)}
        onChange={event => onChoose(event.currentTarget.value.trim())}
      />
      <datalist id={`${id}-devices`}>
        {devices.map(({ device, location_short }) => (
          <option key={device} value={device} label={location_short} />
        ))}
      </datalist>
    </label>
  )
}

interface MetricChooserProps {
  readonly names: readonly string[]
  readonly shown: readonly string[]
  readonly quantities: Quantities
}

/** Renders nothing while all metrics are shown. */
export function MetricChooser({ names, shown, quantities }: MetricChooserProps) {
  if (names.length <= shownMax) return null
  const choose = (name: string) => {
    const next = names.filter(other => (other === name) !== shown.includes(other))
    setArguments({ metrics: next.join(',') }, { replace: true })
  }
  return (
    <details class="chooser">
      <summary>{t('{count} of {total} metrics are shown', { count: shown.length, total: names.length })}</summary>
      <fieldset>
        <legend class="unseen">{t('Metrics')}</legend>
        {names.map(name => (
          <label key={name}>
            <input type="checkbox" checked={shown.includes(name)} onChange={() => choose(name)} />
            {quantities.of(name).name}
          </label>
        ))}
      </fieldset>
    </details>
  )
}
