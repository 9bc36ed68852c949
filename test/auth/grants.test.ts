/** The codes of device authorization. */

import fc from 'fast-check'
import t from 'tap'
import {
  createDeviceCode,
  createUserCode,
  formatUserCode,
  isDeviceCode,
  parseUserCode,
} from '../../auth/grants/codes.ts'

const consonants = 'BCDFGHJKLMNPQRSTVWXZ'

t.test('user codes are eight consonants, each as likely as the others', async t => {
  const codes = Array.from({ length: 50_000 }, createUserCode)
  t.ok(codes.every(code => code.length === 8))
  const counts = new Map<string, number>()
  for (const letter of codes.join('')) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  t.strictSame([...counts.keys()].sort().join(''), consonants)
  // 20,000 of each are expected; six standard deviations are 828.
  for (const [letter, count] of counts) t.ok(Math.abs(count - 20_000) < 828, `${letter}: ${count}`)
})

t.test('a user code is read however it is typed', async t => {
  const letter = fc.constantFrom(...consonants)
  const noise = fc.array(fc.constantFrom('-', ' ', '\u00a0'), { maxLength: 3 }).map(parts => parts.join(''))
  const typed = fc.array(fc.tuple(letter, fc.boolean(), noise), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(typed, noise, (letters, before) => {
      const code = letters.map(([letter]) => letter).join('')
      const text = letters.map(([letter, isSmall, after]) => `${isSmall ? letter.toLowerCase() : letter}${after}`)
      return parseUserCode(`${before}${text.join('')}`) === code && parseUserCode(formatUserCode(code)) === code
    }),
  )
  for (const text of ['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ACDF-GHJK', 'BCDF-GHJ1', 'ſSSS-SSSS', 'ßBBB-BBB']) {
    t.equal(parseUserCode(text), undefined, text)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), text => {
      const code = parseUserCode(text)
      return code === undefined || /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(code)
    }),
  )
})

t.test('device codes have 256 bits', async t => {
  const codes = Array.from({ length: 100 }, createDeviceCode)
  t.equal(new Set(codes).size, 100)
  for (const code of codes) t.ok(isDeviceCode(code) && Buffer.from(code, 'base64url').length === 32)
  for (const text of ['', 'abc', `${codes[0]}A`, `${codes[0]}\n`, 'ä'.repeat(43)]) t.notOk(isDeviceCode(text))
})
