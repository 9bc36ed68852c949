/** The devices' tags; each chosen tag narrows the list. */

import type { ComponentChildren } from 'preact'
import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { offeredTags, tagsMax } from './fleet-tags.ts'

function valueText(tag: string): string {
  return tag.endsWith(':*') ? 'any' : tag.slice(tag.indexOf(':') + 1)
}

export interface TagFilterProps {
  devices: readonly FleetDevice[]
  chosen: readonly string[]
  onChange: (tags: string[]) => void
  /** Rendered between the list of tags and the chosen ones. */
  children: ComponentChildren
}

export function TagFilter({ devices, chosen, onChange, children }: TagFilterProps) {
  const offered = offeredTags(devices, chosen)
  const choose = ({ currentTarget }: { currentTarget: HTMLSelectElement }) => {
    if (currentTarget.value !== '') onChange([...chosen, currentTarget.value])
    // The tag goes to those that are chosen, and the list stays for another one.
    currentTarget.value = ''
  }
  return (
    <div class="tag-filter">
      {offered.size === 0 || chosen.length === tagsMax ? null : (
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
      )}
      {children}
      {chosen.length === 0 ? null : (
        <ul aria-label="Only devices with these tags">
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
      )}
    </div>
  )
}
