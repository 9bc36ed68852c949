/** Idempotency keys: their grammar, and appends that wait for one another. */

import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { test } from 'tap'
import { createStoredClaims } from '../../ingest/idempotency/claims.ts'
import { readIdempotencyKey } from '../../ingest/idempotency/idempotency-key.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import { runs } from '../support/runs.ts'

const read = (header: string) => readIdempotencyKey({ 'idempotency-key': header })
const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map(code => String.fromCharCode(code)) })

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** The grammar of RFC 9651 as one expression, for short texts only. */
const grammar = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/

test('a string of structured fields is read back as it was', async t => {
  const property = fc.property(printable, text => {
    const header = quoted(text)
    const expected = text !== '' && header.length <= 255 ? { ok: true, key: text } : { ok: false }
    t.match(read(header), expected)
  })
  fc.assert(property)
})

test('whatever comes is a key by the grammar, a plain word, or refused', async t => {
  const pieces = fc.constantFrom(...'"|\\|a| |,|;|=|\t|\u00e9|\u0000|1|"a"|\\"|/|:'.split('|'))
  const header = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 12 }).map(parts => parts.join('')),
  )
  const property = fc.property(header, text => {
    const inQuotes = grammar.exec(text)?.[1]?.replace(/\\(.)/g, '$1')
    const word = /^[!#-+\--:<-[\]-~]+$/.exec(text)?.[0]
    const key = inQuotes || word
    if (key === undefined || text.length > 255) t.match(read(text), { ok: false, reason: /^must / })
    else t.strictSame(read(text), { ok: true, key })
  })
  fc.assert(property, runs(200, 2000))
})

test('a header is absent, or has at most 255 characters', async t => {
  t.equal(readIdempotencyKey({}), undefined)
  t.match(read('"a", "b"'), { ok: false, reason: /one string in quotation marks/ })
  t.match(read('a'.repeat(255)), { ok: true })
  t.match(read(`"${'a'.repeat(253)}"`), { ok: true })
  t.strictSame(read('a'.repeat(256)), { ok: false, reason: 'must have at most 255 characters' })
  t.match(read(`"${'a'.repeat(254)}"`), { ok: false })
})

test('one of the appends that wait for a failed one is stored', async t => {
  const { once } = createStoredClaims(10, () => undefined)
  const row = { writer: 'w', keyDigest: Buffer.of(1), fingerprint: Buffer.of(2), expiresMs: 1 }
  const known = { stampUs: undefined, storedAs: undefined }
  const claim = { kind: 'claimed' as const, id: 'a', stampUs: undefined, row: { ...row, ...known } }
  const outcomes: Outcome[] = ['full', 'unknown', 'stored', 'stored', 'stored']
  let appended = 0
  const append = async () => {
    const outcome = outcomes[appended++] as Outcome
    await sleep(1)
    return outcome
  }
  const all = await Promise.all(Array.from({ length: 5 }, () => once(claim, '1', append)))
  t.strictSame(all.toSorted(), ['full', 'stored', 'stored', 'stored', 'unknown'])
  t.equal(appended, 3)
})
