/** Hampel's filter against brute force in numpy. Fixture: fixtures/hampel.py. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'tap'
import { hampelClean } from '../../analytics/quality/hampel.ts'

interface Case {
  readonly name: string
  readonly values: (number | null)[]
  readonly cleaned: (number | null)[]
}

const cases: Case[] = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/hampel.json'), 'utf8'))

function clean(values: readonly (number | null)[]): (number | null)[] {
  const cleaned = hampelClean(Float64Array.from(values, value => value ?? Number.NaN))
  return Array.from(cleaned, value => (Number.isNaN(value) ? null : value))
}

test('cells are cleaned as by brute force', async t => {
  for (const { name, values, cleaned } of cases) {
    t.strictSame(clean(values), cleaned, name)
    t.ok(
      values.some((value, index) => value !== cleaned[index]),
      `${name}: there was something to clean`,
    )
  }
})

test('a spike on a sine goes, and the sine stays as it was', async t => {
  const sine = Array.from({ length: 720 }, (_, hour) => Math.sin((2 * Math.PI * hour) / 24))
  t.strictSame(clean(sine), sine)
  const cleaned = clean(sine.map((value, hour) => (hour === 300 ? 100 : value)))
  t.ok(Math.abs(cleaned[300] ?? 100) < 0.1)
  t.strictSame(cleaned.toSpliced(300, 1), sine.toSpliced(300, 1))
})

test('the limit is 3.5 standard deviations of normal noise with that MAD', async t => {
  // Around the middle one the MAD is 1, so the limit is 5.1891.
  const around = (value: number) => Array.from({ length: 25 }, (_, cell) => (cell === 12 ? value : (cell % 3) - 1))
  t.equal(clean(around(5.189))[12], 5.189)
  t.equal(clean(around(5.1892))[12], 0)
})

test('a neighbourhood of equal values changes nothing', async t => {
  const steps = Array.from({ length: 50 }, (_, index) => (index === 25 ? 90 : 20))
  t.strictSame(clean(steps), steps)
})

test('no cells, one cell and cells far apart stay', async t => {
  t.strictSame(clean([]), [])
  t.strictSame(clean([5]), [5])
  const sparse = Array.from({ length: 60 }, (_, index) => (index % 30 === 0 ? index : null))
  t.strictSame(clean(sparse), sparse)
})

test('a series backwards, shifted or scaled is cleaned the same', async () => {
  const value = fc.option(fc.integer({ min: -60, max: 60 }), { nil: null, freq: 5 })
  const series = fc.array(fc.oneof({ weight: 15, arbitrary: value }, fc.constant(4000)), {
    maxLength: 120,
    size: 'max',
  })
  fc.assert(
    fc.property(series, list => {
      const cleaned = clean(list)
      assert.deepEqual(clean(list.toReversed()), cleaned.toReversed())
      const moved = (values: (number | null)[]) => values.map(cell => (cell === null ? null : cell * 2 + 64))
      assert.deepEqual(clean(moved(list)), moved(cleaned))
    }),
  )
})
