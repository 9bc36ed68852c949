/** What travels between main and the threads that read bodies comes out as it went in. */

import fc from 'fast-check'
import { test } from 'tap'
import { KnownNames } from '../../ingest/formats/known-names.ts'
import { NameIndex } from '../../ingest/formats/name-index.ts'
import { packNames, packTextsOf, textIndexes, unpackNames } from '../../ingest/import/packed-names.ts'
import { learnNames, packSeries, unpackSeries } from '../../ingest/import/packed-series.ts'

const text = fc.string({ unit: 'binary', maxLength: 10 })

/** By its place where it is known. */
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

test('names, known ones and others, and what they stand for or why there is nothing', async () => {
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
    const told = textIndexes(packed)
    const texts = told.map(index => all[index]?.name)
    if (JSON.stringify(unpackNames(packed).flat()) !== JSON.stringify(texts)) return false
    const changed = [...all.keys()].filter(index => !told.includes(index) && all[index]?.hasChanged)
    for (const index of changed) names.forget(index)
    const more = unpackNames(structuredClone(packTextsOf(names, changed))).flat()
    if (JSON.stringify(more) !== JSON.stringify(changed.map(index => all[index]?.name))) return false
    const indexes = [...told, ...changed].sort((a, b) => a - b)
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
