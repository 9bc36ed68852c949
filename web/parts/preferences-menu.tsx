/** The menu of the language, units and the time zone, in the header of every page. */

import { useId, useState } from 'preact/hooks'
import { signOf } from '../../store/metrics/units.ts'
import { signInAddress } from '../client/address.ts'
import { languageNames } from '../client/browser-storage.ts'
import { changePreferences, keptIn } from '../client/stored-preferences.ts'
import { type Preferences, preferences } from '../text/preferences.ts'
import { type UnitPreference, unitChoices, unitPreferences } from '../text/units.ts'
import { t, tp } from '../words/words.ts'
import { Dialog } from './dialog.tsx'

const labels: Record<UnitPreference, string> = {
  temperature_unit: t('Temperature'),
  pressure_unit: t('Air pressure'),
  speed_unit: t('Wind and other speeds'),
}

export function PreferencesMenu() {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <button type="button" class="button small" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        {t('Units')}
      </button>
      {isOpen ? <PreferencesDialog onClose={() => setIsOpen(false)} /> : null}
    </>
  )
}

function PreferencesDialog({ onClose }: { onClose: () => void }) {
  const [failure, setFailure] = useState<string>()
  const change = (changes: Partial<Preferences>) => void changePreferences(changes).then(setFailure)
  const chosen = preferences.value
  return (
    <Dialog title={t('Units and time zone')} class="preferences" onClose={onClose}>
      {close => (
        <>
          <Choice
            label={t('Language')}
            chosen={chosen.language}
            usual={t('As in the browser')}
            options={Object.entries(languageNames).map(([value, text]) => ({ value, text }))}
            onChoose={language => change({ language: language as Preferences['language'] })}
          />
          {unitPreferences.map(name => (
            <Choice
              key={name}
              label={labels[name]}
              chosen={chosen[name]}
              usual={t('As measured')}
              options={unitChoices[name].map(code => ({ value: code, text: signOf(code) }))}
              onChoose={code => change({ [name]: code })}
            />
          ))}
          <Choice
            label={t('Times')}
            chosen={chosen.time_zone}
            usual={t('In the zone of the page')}
            options={zonesWith(chosen.time_zone)}
            onChoose={zone => change({ time_zone: zone })}
          />
          <p class="note">
            {t(
              "This changes what the pages show. Files of CSV and the API have the units as measured and times in UTC. Days, hours and statistics of analyses stay in the page's zone: the station's zone on its page, elsewhere the service's.",
            )}
          </p>
          {failure === undefined ? (
            <p class="note">
              <Kept />
            </p>
          ) : (
            <p class="error" role="alert">
              {failure}
            </p>
          )}
          <button type="button" class="button" onClick={close}>
            {t('Close')}
          </button>
        </>
      )}
    </Dialog>
  )
}

/** The storage of the preferences. */
function Kept() {
  switch (keptIn.value) {
    case 'account':
      return <>{t('Kept in your account.')}</>
    case 'sending':
      return <>{t('It is sent to your account.')}</>
    case 'unsent':
      return <>{t('Kept in this browser. Your account gets it with the next change here.')}</>
    case 'browser':
      return (
        <>
          {tp('Kept in this browser. {link} to keep it in your account.', {
            link: <a href={signInAddress()}>{t('Sign in')}</a>,
          })}
        </>
      )
  }
}

interface ChoiceProps {
  label: string
  /** Null: the usual one. */
  chosen: string | null
  usual: string
  options: readonly { value: string; text: string }[]
  onChoose: (value: string | null) => void
}

function Choice({ label, chosen, usual, options, onChoose }: ChoiceProps) {
  const id = useId()
  return (
    <div class="choice-of-one">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={chosen ?? ''}
        onChange={({ currentTarget }) => onChoose(currentTarget.value === '' ? null : currentTarget.value)}
      >
        <option value="">{usual}</option>
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

/** The browser's zone comes first. */
function zonesWith(chosen: string | null): { value: string; text: string }[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const others = ['UTC', ...Intl.supportedValuesOf('timeZone'), ...(chosen === null ? [] : [chosen])]
  const names = [...new Set(others)].filter(name => name !== own)
  return [{ value: own, text: t('{own} (this browser)', { own }) }, ...names.map(name => ({ value: name, text: name }))]
}
