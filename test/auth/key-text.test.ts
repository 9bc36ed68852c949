/** The text of an API key: its form, its checksum, and what of it is shown and stored. */

import { hash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { createKeyText, createKeyTextLike, digestOf, isKeyText, prefixOf } from '../../auth/keys/key-text.ts'

t.test('a key has its form, and no two are alike', async t => {
  const texts = Array.from({ length: 1000 }, createKeyText)
  for (const text of texts) if (!/^barograph_key_[0-9A-Za-z]{49}$/.test(text) || !isKeyText(text)) t.fail(text)
  t.equal(new Set(texts).size, texts.length)
})

t.test('the checksum is the CRC-32 of all before it', async t => {
  const before = `barograph_key_${'0'.repeat(42)}1`
  t.equal(isKeyText(`${before}${crc32InBase62(before)}`), true)
  t.equal(isKeyText(`${before}${crc32InBase62(before.slice(14))}`), false)
})

t.test('a key with one character mistyped is refused', async t => {
  const text = createKeyText()
  const place = fc.integer({ min: 0, max: text.length - 1 })
  const property = fc.property(place, fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
    fc.pre(text[at] !== character)
    return !isKeyText(`${text.slice(0, at)}${character}${text.slice(at + 1)}`)
  })
  fc.assert(property, { numRuns: 1000 })
  for (const other of ['', text.slice(1), `${text}0`, ` ${text}`, `${text}\n`, text.toUpperCase(), text.repeat(1000)]) {
    t.equal(isKeyText(other), false, other.slice(0, 80))
  }
})

t.test('a key like another one looks the same where it is shown, and is another one', async t => {
  const prefix = prefixOf(createKeyText())
  const texts = Array.from({ length: 1000 }, () => createKeyTextLike(prefix))
  for (const text of texts) if (!isKeyText(text) || prefixOf(text) !== prefix) t.fail(text)
  t.equal(new Set(texts.map(text => text.slice(prefix.length, -6))).size, texts.length)
})

t.test('eight characters of a key are shown, and its SHA-256 is stored', async t => {
  const text = createKeyText()
  t.equal(prefixOf(text), text.slice(0, 'barograph_key_'.length + 8))
  t.strictSame(digestOf(text), hash('sha256', text, 'buffer'))
})

/** Bit by bit, and by hand, apart from what is tested. */
function crc32InBase62(text: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let rest = (crc ^ 0xffffffff) >>> 0
  let result = ''
  for (let at = 0; at < 6; at++) {
    result = `${digits[rest % 62]}${result}`
    rest = Math.floor(rest / 62)
  }
  return result
}
