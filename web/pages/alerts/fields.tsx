/** Fields of a rule: a choice of several, a number with its unit, and a duration. */

import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

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
  { seconds: 1, name: 'seconds' },
  { seconds: 60, name: 'minutes' },
  { seconds: 3600, name: 'hours' },
  { seconds: 86_400, name: 'days' },
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
        aria-label={`${label}: unit`}
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
