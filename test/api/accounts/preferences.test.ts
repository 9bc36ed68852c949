/** How pages show values and times to a person: read, changed, and whatever else is sent. */

import fc from 'fast-check'
import t from 'tap'
import {
  noPreferences,
  Preferences,
  pressureUnits,
  speedUnits,
  temperatureUnits,
} from '../../../auth/accounts/preference-values.ts'
import { isTimeZone } from '../../../auth/time-zone.ts'
import { startAccounts } from '../../support/accounts.ts'

const { ask, person, cookieOf, store } = await startAccounts(t)
const id = await person('ada@example.com')
const { cookie } = await cookieOf(id)
const path = '/me/preferences'
const get = async () => (await ask('GET', path, { headers: { cookie } })).body
const patch = (body: unknown) => ask('PATCH', path, { body, headers: { cookie } })

t.test('nothing is chosen at first, and each choice stays until it is taken away', async t => {
  t.strictSame(await get(), noPreferences)
  const fahrenheit = { ...noPreferences, temperature_unit: '[degF]' }
  t.match(await patch({ temperature_unit: '[degF]', colour: 'red' }), { status: 200, body: fahrenheit })
  t.notOk('colour' in (await get()), 'what is not known is ignored')
  const all = { temperature_unit: 'Cel', pressure_unit: "[in_i'Hg]", speed_unit: '[kn_i]', time_zone: 'Asia/Kolkata' }
  t.strictSame((await patch(all)).body, all)
  t.strictSame((await patch({ pressure_unit: null, time_zone: null })).body, {
    ...all,
    pressure_unit: null,
    time_zone: null,
  })
  t.strictSame((await patch({})).status, 200)
  t.match(await get(), { temperature_unit: 'Cel', speed_unit: '[kn_i]' })
  const { rows } = await store.postgres.query(
    "SELECT details FROM audit WHERE action = 'account.change' ORDER BY id DESC LIMIT 1",
  )
  t.strictSame(rows, [{ details: { fields: ['pressure_unit', 'time_zone'] } }])
})

t.test('they are one person’s alone, and no part of the profile', async t => {
  const other = await cookieOf(await person('bob@example.com'))
  await patch({ temperature_unit: '[degF]' })
  t.strictSame((await ask('GET', path, { headers: { cookie: other.cookie } })).body, noPreferences)
  t.notOk('preferences' in (await ask('GET', '/me', { headers: { cookie } })).body)
})

t.test('what is wrong is said as everywhere', async t => {
  const of = (fields: object) => patch(fields)
  const expected = `'hPa', "[in_i'Hg]" or 'mm[Hg]'`
  t.match(await of({ pressure_unit: 'psi', temperature_unit: 7 }), {
    status: 422,
    body: {
      detail: [
        {
          type: 'literal_error',
          loc: ['body', 'temperature_unit'],
          msg: "Input should be 'Cel' or '[degF]'",
          input: 7,
        },
        {
          type: 'literal_error',
          loc: ['body', 'pressure_unit'],
          msg: `Input should be ${expected}`,
          ctx: { expected },
        },
      ],
    },
  })
  t.match(await of({ time_zone: 'Europe/Atlantis' }), {
    status: 422,
    body: { detail: [{ type: 'value_error', msg: 'Value error, the time zone is not known', ctx: { error: {} } }] },
  })
  t.match(await of({ time_zone: 'E'.repeat(65) }), { status: 422, body: { detail: [{ type: 'string_too_long' }] } })
  t.match(await of([]), { status: 422, body: { detail: [{ type: 'model_attributes_type' }] } })
})

t.test('whatever is sent, it is refused whole or stored as it was meant', async t => {
  const words = [
    ...temperatureUnits,
    ...pressureUnits,
    ...speedUnits,
    'UTC',
    'Europe/Berlin',
    '+05:30',
    '__proto__',
    '',
  ]
  const value = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 70 }), fc.jsonValue())
  const names = [...Object.keys(noPreferences), 'other', '__proto__']
  const bodies = fc.dictionary(fc.constantFrom(...names), value, { noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(bodies, async body => {
      const before = await get()
      const { status, body: answer } = await patch(body)
      if (status === 422) {
        t.strictSame(await get(), before)
        return Array.isArray(answer['detail']) && answer['detail'].length > 0
      }
      const told = Preferences.strict().parse(answer)
      const isMeant = (Object.keys(noPreferences) as (keyof Preferences)[]).every(
        name => told[name] === (Object.hasOwn(body, name) ? body[name] : before[name]),
      )
      return status === 200 && isMeant && (told.time_zone === null || isTimeZone(told.time_zone))
    }),
    { numRuns: 300 },
  )
})

t.test('the end of an account is the end of them', async t => {
  t.equal((await ask('DELETE', '/me', { headers: { cookie } })).status, 204)
  t.equal((await ask('GET', path, { headers: { cookie } })).status, 401)
})
