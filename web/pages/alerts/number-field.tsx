/** Fields of a rule: numbers with their units, and durations. */

import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

export interface NumberFieldProps {
  label: string
  value: string
  /** Behind the number. */
  unit?: string
  hint?: string
  isRequired?: boolean
  min?: number
  max?: number
  onInput: (value: string) => void
}

export function NumberField({ label, value, unit = '', hint, isRequired, min, max, onInput }: NumberFieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Hint id={id} text={hint} />
      <span class="with-unit">
        <input
          id={id}
          type="number"
          step="any"
          required={isRequired}
          value={value}
          min={min}
          max={max}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
        {unit === '' ? null : <span class="soft">{unit}</span>}
      </span>
    </div>
  )
}

function Hint({ id, text }: { id: string; text: ComponentChildren }) {
  return text === undefined ? null : (
    <span class="soft" id={`${id}-hint`}>
      {text}
    </span>
  )
}

const units = [
  { seconds: 1, name: 'seconds' },
  { seconds: 60, name: 'minutes' },
  { seconds: 3600, name: 'hours' },
  { seconds: 86_400, name: 'days' },
] as const

/** The largest one of which it is a whole number. */
function unitOf(seconds: number): number {
  if (seconds === 0) return 60
  return units.findLast(unit => seconds % unit.seconds === 0)?.seconds ?? 1
}

export interface DurationFieldProps {
  label: string
  hint?: string
  seconds: number
  onChange: (seconds: number) => void
}

export function DurationField({ label, hint, seconds, onChange }: DurationFieldProps) {
  const id = useId()
  const [unit, setUnit] = useState(unitOf(seconds))
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Hint id={id} text={hint} />
      <span class="with-unit">
        <input
          id={id}
          type="number"
          min={0}
          step="any"
          required
          value={seconds / unit}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          onInput={({ currentTarget }) => onChange(Math.round(Number(currentTarget.value) * unit))}
        />
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
      </span>
    </div>
  )
}
