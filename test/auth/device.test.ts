/** What may be a name, and what becomes of it in a symbol. */

import fc from 'fast-check'
import t from 'tap'
import { DeviceChange, DeviceName, NewDevice, slugOf } from '../../auth/devices/device.ts'

const told = (name: string) => DeviceName.safeParse(name).error?.issues.map(({ message }) => message)

t.test(
  'a name is 1 to 64 characters, composed, without signs that a topic, a path or a header cannot carry',
  async t => {
    for (const name of [
      'a',
      'kitchen',
      'Küche Nord',
      'a?c%20$=',
      '温室-1',
      '🌡',
      "porch's <b>",
      'x'.repeat(64),
      '🌡'.repeat(64),
    ]) {
      t.equal(told(name), undefined, name)
    }
    for (const name of ['', '\ud800', '.', '..', 'x'.repeat(65), '🌡'.repeat(65)]) t.equal(told(name)?.length, 1, name)
    for (const sign of [':', '/', '+', '#']) {
      for (const name of [sign, `a${sign}b`]) t.strictSame(told(name), ['must not contain ":", "/", "+" or "#"'], name)
    }
    for (const sign of ['\n', '\t', '\u0000', '\u007f', '\u0085']) {
      t.strictSame(told(`a${sign}b`), ['must not contain control characters'])
    }
    t.equal(DeviceName.parse('Ku\u0308che'), 'Küche', 'a decomposed spelling is the composed name')
    t.equal(DeviceName.parse('5 \u212b'), '5 Å', 'nor are there two signs for an angstrom')
  },
)

t.test('names that look alike are one', async t => {
  for (const name of [' lead2', 'lead2 ', ' ']) t.strictSame(told(name), ['must not begin or end with a space'])
  t.strictSame(told('a  b'), ['must not contain two spaces in a row'])
  for (const blank of ['\u00a0', '\u1680', '\u2000', '\u2003', '\u2009', '\u202f', '\u205f', '\u3000']) {
    for (const name of [blank, `a${blank}b`, `${blank}a`]) {
      t.strictSame(told(name), ['must not contain blanks other than the space'], JSON.stringify(name))
    }
  }
  const zeroWidth = ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u180e']
  const bidirectional = ['\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069', '\u061c']
  const ignorable = [
    '\u034f',
    '\u115f',
    '\u1160',
    '\u3164',
    '\uffa0',
    '\u17b4',
    '\ufe0f',
    '\ufe00',
    '\u{e0041}',
    '\u{e0100}',
  ]
  for (const sign of [
    ...zeroWidth,
    ...bidirectional,
    ...ignorable,
    '\u2028',
    '\u2029',
    '\u2800',
    '\ufffe',
    '\u{1ffff}',
  ]) {
    t.strictSame(told(`a${sign}b`), ['must not contain invisible characters'], `${sign.codePointAt(0)?.toString(16)}`)
    t.strictSame(told(sign), ['must not contain invisible characters'])
  }
})

t.test('the rule for names agrees with its description for any text', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 70 }),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
    fc.string({ unit: fc.constantFrom(...'ab  \u00a0\u3000.:/+#\u200b\u0301'), maxLength: 6 }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map(units => String.fromCharCode(...units)),
  )
  fc.assert(
    fc.property(text, given => {
      const parsed = DeviceName.safeParse(given)
      const name = given.normalize('NFC')
      const signs = [...name]
      const good =
        signs.length >= 1 &&
        signs.length <= 64 &&
        signs.every(sign => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\p{NChar}\u2800:/+#]/u.test(sign)) &&
        signs.every(sign => sign === ' ' || !/\p{Z}/u.test(sign)) &&
        name.split(' ').every(word => word !== '') &&
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
