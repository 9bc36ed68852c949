/** A field with one choice of several. */

import { useId } from 'preact/hooks'

export interface ChoiceFieldProps<Value extends string> {
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
