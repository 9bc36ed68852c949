/** What may be a name, and what becomes of it in a symbol. */

import fc from 'fast-check'
import t from 'tap'
import { DeviceChange, DeviceName, NewDevice, slugOf } from '../../auth/devices/device.ts'

t.test('a name is 1 to 64 characters, composed, without colon and controls', async t => {
  const allowed = (name: string) => DeviceName.safeParse(name).success
  for (const name of ['a', 'kitchen', 'Küche Nord', 'a?c#d%20', '温室-1', '🌡️', 'x'.repeat(64), '🌡'.repeat(64)]) {
    t.ok(allowed(name), name)
  }
  for (const name of ['', 'a:b', ':', 'a\nb', '\u0000', '\u007f', '\u0085', '\ud800', '.', '..', 'x'.repeat(65)]) {
    t.notOk(allowed(name), JSON.stringify(name))
  }
  t.notOk(allowed('🌡'.repeat(65)))
  const told = (name: string) => DeviceName.safeParse(name).error?.issues.map(({ message }) => message)
  t.strictSame(told('a/b'), ['must not contain a slash'])
  for (const name of [' ', '\u00a0\u3000', '\u2800', '\u3164', '\u115f ', '\ufe0f']) {
    t.strictSame(told(name), ['must not be blank'], JSON.stringify(name))
  }
  for (const sign of ['\u202e', '\u2028', '\u2029', '\u200b', '\u200d', '\u2066', '\u00ad', '\ufeff', '\u{e0041}']) {
    t.strictSame(told(`a${sign}b`), ['must not contain invisible characters'], `${sign.codePointAt(0)}`)
  }
  t.equal(DeviceName.parse('Ku\u0308che'), 'Küche', 'a decomposed spelling is the composed name')
})

t.test('the rule for names agrees with its description for any text', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 70 }),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map(units => String.fromCharCode(...units)),
  )
  fc.assert(
    fc.property(text, given => {
      const parsed = DeviceName.safeParse(given)
      const name = given.normalize('NFC')
      const codes = [...name].map(character => character.codePointAt(0) ?? 0)
      const good =
        codes.length >= 1 &&
        codes.length <= 64 &&
        codes.every(code => code > 31 && !(code >= 127 && code <= 159) && !(code >= 0xd800 && code <= 0xdfff)) &&
        !codes.includes(58) &&
        !codes.includes(47) &&
        !/[\p{Cf}\p{Zl}\p{Zp}]/u.test(name) &&
        !/^[\p{Z}\p{DI}\u2800]*$/u.test(name) &&
        name !== '.' &&
        name !== '..'
      return parsed.success === good && (!parsed.success || parsed.data === name)
    }),
    { numRuns: 2000 },
  )
})

t.test('a slug is short and plain for any name', async t => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), name => {
      const slug = slugOf(name)
      return slug.length <= 40 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)
    }),
    { numRuns: 2000 },
  )
  const gives = (name: string, slug: string) => t.equal(slugOf(name), slug, name)
  gives('Kitchen', 'kitchen')
  gives('Küche (Nord)', 'kuche-nord')
  gives('  --a__b--  ', 'a-b')
  gives('温室', 'device')
  gives(`${'a'.repeat(39)} b`, 'a'.repeat(39))
})

t.test('a typing error in a field is told, not dropped', async t => {
  const told = (schema: typeof NewDevice | typeof DeviceChange, value: object) => {
    const parsed = schema.safeParse(value)
    return parsed.success ? undefined : parsed.error.issues.map(issue => issue.path.join('.') || issue.message)
  }
  t.match(told(NewDevice, { name: 'a', locaton_short: 'x' })?.[0], /locaton_short/)
  t.match(told(DeviceChange, { logswitch: true })?.[0], /logswitch/)
  t.match(told(DeviceChange, {}), ['must name at least one field to change'])
  t.strictSame(told(DeviceChange, { altitude_m: 20_000, battery: 'yes' })?.sort(), ['altitude_m', 'battery'])
  t.strictSame(told(NewDevice, { name: 'a', location_desc: 'a\u0000b' }), ['location_desc'])
  t.strictSame(DeviceChange.parse({ owner: null }), { owner: null }, 'a change holds what it names and no defaults')
})
