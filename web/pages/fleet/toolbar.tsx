/** Controls above the list: search, order, states, tags, groups, map and selection. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { useIsAdministrator } from '../../client/session.ts'
import { StateBadge } from '../../parts/marks.tsx'
import { type DeviceState, deviceStates } from '../../text/kind-words.ts'
import type { Quantities } from '../../text/quantities.ts'
import { countText, t } from '../../words/words.ts'
import type { FleetColumns } from './fleet-columns.ts'
import type { Counts } from './fleet-devices.ts'
import { customOf, type FleetView, offeredKeys, offeredTags, type SortKey, tagsMax } from './fleet-view.ts'

const names: Record<string, string> = {
  state: t('Worst state first'),
  device: t('Name'),
  place: t('Place'),
  age: t('Newest reading first'),
  temperature: t('Temperature'),
  humidity: t('Humidity'),
  pressure: t('Pressure'),
  battery: t('Battery, lowest first'),
}

interface ToolbarProps {
  view: FleetView
  columns: FleetColumns
  /** Metrics without a column. */
  custom: readonly string[]
  quantities: Quantities
  /** True if some sort key has no column header. */
  hasOrder: boolean
  onChange: (change: Partial<FleetView>, options?: { replace?: boolean }) => void
  children: ComponentChildren
}

export function Toolbar({ view, columns, custom, quantities, hasOrder, onChange, children }: ToolbarProps) {
  const nameOf = (key: SortKey) => names[key] ?? quantities.of(customOf(key) ?? key).name
  return (
    <div class="toolbar">
      <label class="device-search">
        <span class="unseen">{t('Search')}</span>
        <input
          type="search"
          value={view.search}
          placeholder={t('Name or place')}
          onInput={({ currentTarget }) => onChange({ search: currentTarget.value }, { replace: true })}
        />
      </label>
      {hasOrder ? (
        <label class="order">
          <span>{t('Order')}</span>
          <select
            value={view.sort}
            onChange={({ currentTarget }) => onChange({ sort: currentTarget.value as SortKey, isDescending: false })}
          >
            {offeredKeys(columns, custom, view.sort).map(key => (
              <option key={key} value={key}>
                {nameOf(key)}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {children}
    </div>
  )
}

interface StateFilterProps {
  counts: Counts
  chosen: readonly DeviceState[]
  onChange: (states: DeviceState[]) => void
}

export function StateFilter({ counts, chosen, onChange }: StateFilterProps) {
  const toggled = (state: DeviceState) =>
    deviceStates.filter(other => (other === state ? !chosen.includes(other) : chosen.includes(other)))
  return (
    <ul class="counts" aria-label={t('Devices by state')}>
      {deviceStates.map(state => (
        <li key={state}>
          <button type="button" aria-pressed={chosen.includes(state)} onClick={() => onChange(toggled(state))}>
            <b>{countText(counts[state])}</b> <StateBadge state={state} />
          </button>
        </li>
      ))}
    </ul>
  )
}

function valueText(tag: string): string {
  return tag.endsWith(':*') ? t('any') : tag.slice(tag.indexOf(':') + 1)
}

interface TagFilterProps {
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
      <span>{t('Tag')}</span>
      <select value="" onChange={choose}>
        <option value="">{chosen.length === 0 ? t('All') : t('And with …')}</option>
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
    <ul class="chosen-tags" aria-label={t('Only devices with these tags')}>
      {chosen.map(tag => (
        <li key={tag}>
          <button
            type="button"
            aria-label={t('Remove {tag}', { tag })}
            onClick={() => onChange(chosen.filter(other => other !== tag))}
          >
            {tag} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

interface GroupFilterProps {
  keys: readonly string[]
  chosen: string | undefined
  onChange: (key: string) => void
}

export function GroupFilter({ keys, chosen, onChange }: GroupFilterProps) {
  if (keys.length === 0) return null
  return (
    <label>
      <span>{t('Groups')}</span>
      <select value={chosen ?? ''} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{t('None')}</option>
        {keys.map(key => (
          <option key={key} value={key}>
            {key}
          </option>
        ))}
      </select>
    </label>
  )
}

interface ShowFilterProps {
  isMap: boolean
  onChange: (isMap: boolean) => void
}

export function ShowFilter({ isMap, onChange }: ShowFilterProps) {
  return (
    <label>
      <span class="unseen">{t('Show')}</span>
      <select value={isMap ? 'map' : 'list'} onChange={({ currentTarget }) => onChange(currentTarget.value === 'map')}>
        <option value="list">{t('List')}</option>
        <option value="map">{t('Map')}</option>
      </select>
    </label>
  )
}

/** `isOn`: devices are being selected, so the button is hidden. */
export function SelectButton({ isOn, onBegin }: { isOn: boolean; onBegin: () => void }) {
  const isAdministrator = useIsAdministrator()
  const button = useRef<HTMLButtonElement>(null)
  const wasOn = useRef(false)
  useEffect(() => {
    if (wasOn.current && !isOn) button.current?.focus()
    wasOn.current = isOn
  }, [isOn])
  if (isOn || !isAdministrator) return null
  return (
    <button ref={button} type="button" class="button" onClick={onBegin}>
      {t('Select')}
    </button>
  )
}
