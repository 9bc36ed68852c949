/** Names of devices between threads: their cache, and their packed form. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t, { test } from 'tap'
import { ByteTable, KnownLines, KnownNames } from '../../ingest/formats/known-names.ts'
import { defaultLineNames } from '../../ingest/formats/line-protocol-names.ts'
import { NameIndex } from '../../ingest/formats/name-index.ts'
import {
  learnNames,
  packNames,
  packSeries,
  packTextsOf,
  textIndexes,
  unpackNames,
  unpackSeries,
} from '../../ingest/import/packed-names.ts'

const bytesOf = (text: string) => Buffer.from(`<${text}>`)
/** The bytes of the name stand within other bytes. */
const findIn = (known: KnownNames, text: string) => known.find(bytesOf(text), 1, bytesOf(text).length - 1)

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'ab', '\u00fc', 'u\u0308', '😀'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const device = fc.record({ number: fc.integer({ min: 1, max: 5 }), authSeq: fc.nat(9) })
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('learn' as const), name, device }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), names: fc.array(name, { maxLength: 6 }) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const symbolOf = (number: number) => `symbol-${number}`

interface Model {
  devices: Map<string, { number: number; authSeq: number }>
  /** All that there ever were. */
  places: { place: number; name: string; number: number }[]
}

t.test('names resolve to the newest result while places keep their first name', async () => {
  const property = fc.property(fc.array(step, { maxLength: 60 }), steps => {
    const known = new KnownNames()
    const model: Model = { devices: new Map(), places: [] }
    for (const each of steps) {
      happen(known, model, each)
      verify(known, model)
    }
  })
  fc.assert(property)
})

function happen(known: KnownNames, { devices, places }: Model, each: Step): void {
  if (each.kind === 'read') {
    readAll(known, each.names)
    return
  }
  const { name } = each
  if (each.kind === 'learn') known.learn(name, { ...each.device, symbol: symbolOf(each.device.number) })
  // A text that is not well-formed has the bytes of another one, and no reader asks for it.
  if (!name.isWellFormed()) return
  if (each.kind === 'learn') {
    devices.set(name, each.device)
    places.push({ place: findIn(known, name), name, number: each.device.number })
  } else {
    const place = findIn(known, name)
    if (place !== -1) known.forget(place)
    devices.delete(name)
    assert.equal(findIn(known, name), -1)
  }
}

function verify(known: KnownNames, { devices, places }: Model): void {
  for (const [name, { number, authSeq }] of devices) {
    const place = findIn(known, name)
    assert.equal(place, known.findText(name))
    assert.ok(known.isCurrent(place))
    assert.deepEqual([known.number(place), known.authSeq(place)], [number, authSeq])
  }
  for (const { place, name, number } of places) {
    assert.deepEqual([known.text(place), known.number(place), known.symbol(place)], [name, number, symbolOf(number)])
  }
}

/** Numbers names as a plain list does, wherever they come from, and again after others have read. */
function readAll(known: KnownNames, texts: readonly string[]): void {
  const names = texts.filter(text => text.isWellFormed())
  const list = [...new Set(names)]
  const index = new NameIndex(known)
  const indexOf = (text: string, isText: boolean) => {
    const place = isText ? -1 : findIn(known, text)
    return place === -1 ? index.indexOf([text]) : index.indexOfKnown(place)
  }
  for (const [at, text] of names.entries()) assert.equal(indexOf(text, at % 3 === 0), list.indexOf(text))
  const other = new NameIndex(known)
  for (const text of names) if (findIn(known, text) !== -1) other.indexOfKnown(findIn(known, text))
  index.resume()
  for (const text of names) assert.equal(indexOf(text, false), list.indexOf(text))
  assert.equal(index.count, list.length)
  for (const [at, text] of list.entries()) assert.equal(index.textOf(at), text)
}

t.test('keys of bytes keep their numbers while the table grows', async t => {
  const table = new ByteTable()
  const numbers = new Map<string, number>()
  for (let round = 0; round < 2; round++) {
    for (let key = 0; key < 20_000; key++) {
      const bytes = Buffer.from(`key ${key}`)
      const number = table.add(bytes, 0, bytes.length)
      if (number !== -1 && round === 0) numbers.set(`key ${key}`, number)
    }
  }
  t.ok(numbers.size > 19_900, 'few find no place')
  t.equal(new Set(numbers.values()).size, numbers.size)
  const isFound = ([key, number]: [string, number]) =>
    [number, -1].includes(table.find(Buffer.from(key), 0, key.length))
  t.ok([...numbers].every(isFound))
  t.equal(table.find(Buffer.from('key'), 0, 3), -1)
})

t.test('a full cache keeps its names without learning more', async t => {
  const known = new KnownNames(3)
  for (const [index, text] of ['a', 'b', 'c', 'd'].entries()) {
    t.equal(known.isFull(), index === 3)
    known.learn(text, { number: index + 1, symbol: symbolOf(index + 1), authSeq: 1 })
  }
  for (const text of ['a', 'b', 'c', 'd']) t.equal(known.findText(text) === -1, text === 'd')
})

t.test('a series is known as long as its name stands for the same device', async t => {
  const lines = new KnownLines(defaultLineNames)
  lines.names.learn('a', { number: 1, symbol: 'a-1', authSeq: 1 })
  const series = { place: lines.names.findText('a'), fields: lines.fieldsOf('w') }
  const bytes = Buffer.from('w,device=a')
  lines.add(bytes, 0, bytes.length, series)
  t.equal(lines.find(bytes, 0, bytes.length), series)
  t.equal(lines.find(bytes, 0, bytes.length - 1), undefined)
  lines.names.learn('a', { number: 1, symbol: 'a-1', authSeq: 2 })
  t.equal(lines.find(bytes, 0, bytes.length), series, 'another setting')
  lines.names.learn('a', { number: 2, symbol: 'a-2', authSeq: 3 })
  t.equal(lines.find(bytes, 0, bytes.length), undefined, 'another device')
})

const text = fc.string({ unit: 'binary', maxLength: 10 })

/** Adds the name by its place if it is known. */
function noteIn(names: NameIndex, text: string): void {
  const place = names.known?.findText(text) ?? -1
  if (place === -1) names.indexOf([text])
  else names.indexOfKnown(place)
}

test('names of several parts', async () => {
  const anyNames = fc.integer({ min: 1, max: 3 }).chain(parts => {
    const name = fc.array(text, { minLength: parts, maxLength: parts })
    return fc.uniqueArray(name, { maxLength: 20, selector: name => JSON.stringify(name) })
  })
  const property = fc.property(anyNames, fc.nat(20), fc.nat(20), (names, from, to) => {
    const index = new NameIndex()
    for (const name of names) index.indexOf(name)
    const packed = structuredClone(packNames(index))
    const [first, last] = [Math.min(from, to, names.length), Math.max(from, to)]
    return (
      JSON.stringify(unpackNames(packed)) === JSON.stringify(names) &&
      JSON.stringify(unpackNames(packed, first, last)) === JSON.stringify(names.slice(first, last))
    )
  })
  fc.assert(property)
})

test('known and unknown names have their results or reasons', async () => {
  const series = fc.record({ number: fc.integer({ min: 1, max: 2 ** 32 - 1 }), symbol: text, authSeq: fc.nat() })
  const refusal = fc.record({
    code: fc.constantFrom('DEVICE_UNKNOWN' as const, 'STATION_UNKNOWN' as const),
    reason: fc.constantFrom('a', 'b', 'c'),
  })
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
  const entry = fc.record({ name, isKnown: fc.boolean(), hasChanged: fc.boolean(), found: fc.oneof(series, refusal) })
  const entries = fc.uniqueArray(entry, { maxLength: 20, selector: ({ name }) => name })
  const property = fc.property(entries, all => {
    const known = new KnownNames()
    const names = new NameIndex(known)
    for (const { name, isKnown, found } of all) if (isKnown && 'number' in found) known.learn(name, found)
    for (const { name } of all) noteIn(names, name)
    const packed = structuredClone(packNames(names))
    const asTexts = textIndexes(packed)
    const texts = asTexts.map(index => all[index]?.name)
    if (JSON.stringify(unpackNames(packed).flat()) !== JSON.stringify(texts)) return false
    const changed = [...all.keys()].filter(index => !asTexts.includes(index) && all[index]?.hasChanged)
    for (const index of changed) names.forget(index)
    const more = unpackNames(structuredClone(packTextsOf(names, changed))).flat()
    if (JSON.stringify(more) !== JSON.stringify(changed.map(index => all[index]?.name))) return false
    const indexes = [...asTexts, ...changed].sort((a, b) => a - b)
    const founds = all.map(({ found }) => found)
    const sent = structuredClone(packSeries(founds, indexes))
    const resolved = unpackSeries(sent, index => names.placeOf(index), known)
    const toLearn = names.textIndexes()
    const textsToLearn = toLearn.map(index => names.textOf(index))
    learnNames(known, textsToLearn, sent, toLearn)
    const expected = founds.map(found => ('number' in found ? { number: found.number, symbol: found.symbol } : found))
    const numberOf = (name: string) => known.number(known.findText(name))
    const isLearned = all.every(({ name, found }) => 'reason' in found || numberOf(name) === found.number)
    return JSON.stringify(resolved) === JSON.stringify(expected) && isLearned
  })
  fc.assert(property)
})
