/** The fields of a rule or a silence that say which devices it is about. */

import { useState } from 'preact/hooks'
import { ChoiceField, DeviceField } from '../../parts/fields.tsx'
import { t } from '../../words/words.ts'
import type { RuleForm } from './rule-form.ts'

export type SelectorForm = Pick<RuleForm, 'covers' | 'tags' | 'devices'>

const names: Record<SelectorForm['covers'], string> = {
  all: t('All devices'),
  tags: t('Devices with tags'),
  devices: t('Some devices'),
}

export interface SelectorFieldsProps {
  form: SelectorForm
  onChange: (change: Partial<SelectorForm>) => void
}

export function SelectorFields({ form, onChange }: SelectorFieldsProps) {
  return (
    <>
      <ChoiceField label={t('Devices')} value={form.covers} names={names} onChange={covers => onChange({ covers })} />
      {form.covers === 'tags' ? (
        <label class="field">
          {t('Tags')}
          <input
            value={form.tags}
            required
            maxLength={1600}
            autoComplete="off"
            placeholder="site:berlin, room:*"
            onInput={({ currentTarget }) => onChange({ tags: currentTarget.value })}
          />
          <span class="soft">{t('Requires all tags, separated by commas. site:* is any site.')}</span>
        </label>
      ) : null}
      {form.covers === 'devices' ? (
        <ChosenDevices devices={form.devices} onChange={devices => onChange({ devices })} />
      ) : null}
    </>
  )
}

function ChosenDevices({ devices, onChange }: { devices: readonly string[]; onChange: (devices: string[]) => void }) {
  // An empty field again for the next one.
  const [place, setPlace] = useState(0)
  const add = (name: string) => {
    if (name === '') return
    if (!devices.includes(name)) onChange([...devices, name])
    setPlace(place + 1)
  }
  return (
    <div class="field chosen">
      <DeviceField key={place} label={t('Add a device')} value="" onChoose={add} />
      <ul class="chips" aria-label={t('Chosen devices')}>
        {devices.map(name => (
          <li key={name}>
            <button type="button" class="button" onClick={() => onChange(devices.filter(other => other !== name))}>
              {name} <span aria-hidden="true">×</span>
              <span class="unseen">{t(': remove')}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
