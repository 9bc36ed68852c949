/** Reads and changes how pages show values and times to the signed-in account. */

import { Preferences, pressureUnits, speedUnits, temperatureUnits } from '../../auth/accounts/preference-values.ts'
import { changePreferences } from '../../auth/accounts/preferences.ts'
import { isTimeZone } from '../../auth/time-zone.ts'
import { type AccountService, accountOf } from './account-service.ts'
import { oneOf, record, refine, text } from './kit/fields.ts'
import { type AccountOperation, operation } from './kit/operation.ts'

const zoneName = () =>
  refine(text({ max: 64, description: 'An IANA name, as Europe/Berlin' }), name =>
    isTimeZone(name) ? undefined : 'the time zone is not known',
  )

export const PreferencesUpdate = record('PreferencesUpdate', {
  temperature_unit: oneOf(temperatureUnits).nullish(),
  pressure_unit: oneOf(pressureUnits).nullish(),
  speed_unit: oneOf(speedUnits).nullish(),
  time_zone: zoneName().nullish(),
})

const success = {
  status: 200,
  description: 'Units as UCUM codes. Null means the unit of the metric, or the time zone of the service.',
  json: Preferences.meta({ id: 'Preferences', title: 'Preferences' }),
} as const

export function preferencesOperations({ accounts }: AccountService): AccountOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/me/preferences',
      name: 'get_my_preferences',
      summary: 'Units and time zone of the current user on the pages',
      permission: 'profile.read',
      success,
      refusals: ['UNAUTHENTICATED', 'UNAVAILABLE'],
      handle: async ({ principal }) => ({ ok: true, value: accountOf(principal).preferences }),
    }),
    operation({
      method: 'PATCH',
      path: '/me/preferences',
      name: 'update_my_preferences',
      summary: 'Change the units and the time zone of the current user on the pages',
      description: 'Missing fields stay unchanged; null resets one. Answers of the API do not depend on them.',
      permission: 'account.manage',
      body: { json: PreferencesUpdate },
      success,
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_SITE', 'UNAVAILABLE'],
      async handle({ principal, body }) {
        const changed = await changePreferences(accounts, accountOf(principal), body)
        return changed.ok ? { ok: true, value: changed.value.preferences } : { ok: false, code: 'UNAUTHENTICATED' }
      },
    }),
  ]
}
