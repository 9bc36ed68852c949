/** The devices' tags. Each chosen tag narrows the list. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { offeredTags, tagsMax } from './fleet-tags.ts'

function valueText(tag: string): string {
  return tag.endsWith(':*') ? 'any' : tag.slice(tag.indexOf(':') + 1)
}

export interface TagFilterProps {
  devices: readonly FleetDevice[]
  chosen: readonly string[]
  onChange: (tags: string[]) => void
}

/** Renders nothing without further tags. */
export function TagFilter({ devices, chosen, onChange }: TagFilterProps) {
  const offered = offeredTags(devices, chosen)
  if (offered.size === 0 || chosen.length === tagsMax) return null
  const choose = ({ currentTarget }: { currentTarget: HTMLSelectElement }) => {
    if (currentTarget.value !== '') onChange([...chosen, currentTarget.value])
    // The tag goes to those that are chosen, and the list stays for another one.
    currentTarget.value = ''
  }
  return (
    <label>
      <span>Tag</span>
      <select value="" onChange={choose}>
        <option value="">{chosen.length === 0 ? 'All' : 'And with …'}</option>
        {[...offered].map(([key, tags]) => (
          <optgroup key={key} label={key}>
            {tags.map(tag => (
              <option key={tag} value={tag}>
                {valueText(tag)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  )
}

/** Each button removes its tag. */
export function ChosenTags({ chosen, onChange }: Omit<TagFilterProps, 'devices'>) {
  if (chosen.length === 0) return null
  return (
    <ul class="chosen-tags" aria-label="Only devices with these tags">
      {chosen.map(tag => (
        <li key={tag}>
          <button
            type="button"
            aria-label={`Remove ${tag}`}
            onClick={() => onChange(chosen.filter(other => other !== tag))}
          >
            {tag} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
