/** Ranges to choose from. */

import './charts.css'

export interface PresetsProps<Name extends string> {
  readonly names: Readonly<Record<Name, string>>
  readonly chosen: Name | undefined
  readonly onChoose: (name: Name) => void
}

export function Presets<Name extends string>({ names, chosen, onChoose }: PresetsProps<Name>) {
  return (
    <fieldset class="presets">
      <legend class="unseen">Range</legend>
      {(Object.keys(names) as Name[]).map(name => (
        <button key={name} type="button" class="button" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
          {names[name]}
        </button>
      ))}
    </fieldset>
  )
}
