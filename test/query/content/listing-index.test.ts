/** The index of the listing against a plain reading of the same files. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { createRandom } from '../../../cli/demo/noise.ts'
import type { Filters } from '../../../query/content/filters.ts'
import { foldCase } from '../../../query/content/fold-case.ts'
import { type FeatureSet, ListingIndex, placesOf } from '../../../query/content/listing-index.ts'
import { runs } from '../../support/runs.ts'

interface Run {
  id: number
  resourceId: number
  unit: number
  platform: number
}

const units = ['mitx', 'ocw', 'xpro'].map(code => ({ code, name: code }))
const platforms = ['edx', 'ocw'].map(code => ({ code, name: code }))
const sets = [[], ['Exams'], ['Exams', 'Lecture Notes'], ['exams', 'Übung']].map((names, i) => ({ id: i + 5, names }))

const runsOf = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 1, max: 300 }),
    resourceId: fc.integer({ min: 1, max: 100 }),
    unit: fc.integer({ min: 0, max: 2 }),
    platform: fc.integer({ min: 0, max: 1 }),
  }),
  { minLength: 1, maxLength: 200, size: 'max', selector: run => run.id },
)
/** Files have the places of their run and set, and make up to three blocks. */
const filesOf = fc.tuple(fc.integer({ min: 0, max: 6_000 }), fc.nat()).map(([count, seed]) => {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => [Math.floor(random() * 1_000), Math.floor(random() ** 4 * 4)] as const)
})
const some = <T>(item: fc.Arbitrary<T>) => fc.option(fc.array(item, { maxLength: 3 }), { nil: undefined })
const filtersOf: fc.Arbitrary<Filters> = fc.record({
  runIds: some(fc.integer({ min: -1, max: 301 })),
  resourceIds: some(fc.integer({ min: -1, max: 101 })),
  featureTypes: some(fc.constantFrom('EXAMS', 'LECTURE NOTES', 'ÜBUNG', 'NONE')),
  moduleIds: fc.constant(undefined),
  units: some(fc.constantFrom('mitx', 'ocw', 'xpro')),
  platforms: some(fc.constantFrom('edx', 'ocw')),
})

function indexOf(
  runs: readonly Run[],
  files: readonly (readonly [run: number, set: number])[],
  featureSets: readonly FeatureSet[] = sets,
): ListingIndex {
  const column = (value: (run: Run) => number) => runs.map(value)
  return new ListingIndex({
    version: 'one',
    files: {
      ids: Float64Array.from(files, (_, i) => 100_000 - i),
      runs: Int32Array.from(files, ([run]) => run % runs.length),
      sets: Int32Array.from(files, ([, set]) => set),
    },
    runs: {
      ids: Float64Array.from(column(run => run.id)),
      resourceIds: Float64Array.from(column(run => run.resourceId)),
      units: Int32Array.from(column(run => run.unit)),
      platforms: Int32Array.from(column(run => run.platform)),
    },
    sets: featureSets,
    places: { runs: placesOf(column(run => run.id)), sets: placesOf(featureSets.map(set => set.id)) },
    units,
    platforms,
  })
}

function isLet(filters: Filters, run: Run, names: readonly string[]): boolean {
  const among = <T>(wanted: readonly T[] | undefined, values: readonly T[]) => {
    return wanted === undefined || values.some(value => wanted.includes(value))
  }
  return (
    among(filters.runIds, [run.id]) &&
    among(filters.resourceIds, [run.resourceId]) &&
    among(filters.featureTypes, names.map(foldCase)) &&
    among(filters.units, [units[run.unit]?.code ?? '']) &&
    among(filters.platforms, [platforms[run.platform]?.code ?? ''])
  )
}

const noFilters = { runIds: undefined, resourceIds: undefined, featureTypes: undefined, moduleIds: undefined }
const unasked = async () => assert.fail('no module was asked for')

test('any filters let through what they should, in order', async () => {
  await fc.assert(
    fc.asyncProperty(runsOf, filesOf, filtersOf, async (runs, files, filters) => {
      const index = indexOf(runs, files)
      const expected: number[] = []
      for (const [i, [run, set]] of files.entries()) {
        const runOf = runs[run % runs.length]
        assert(runOf !== undefined)
        const isExpected = isLet(filters, runOf, sets[set]?.names ?? [])
        if (isExpected) expected.push(100_000 - i)
        const facts = { runId: runOf.id, setId: set + 5, moduleId: null }
        assert.equal(index.lets(filters, facts), isExpected)
      }
      const matches = await index.match(filters, unasked)
      assert.equal(matches.count, expected.length)
      assert.deepEqual(matches.idsAt(0, files.length), expected)
      for (const offset of [3, expected.length >> 1, expected.length - 2, expected.length]) {
        if (offset >= 0) assert.deepEqual(matches.idsAt(offset, 5), expected.slice(offset, offset + 5))
      }
    }),
    runs(60, 300),
  )
})

test('files of more kinds than can be counted in advance are passed by one after the other', async t => {
  const runs = [{ id: 7, resourceId: 1, unit: 1, platform: 0 }]
  const manySets = Array.from({ length: 5_000 }, (_, i) => ({ id: i, names: i % 2 === 0 ? ['Even'] : ['Odd'] }))
  const files = manySets.map((_, i) => [0, i] as const)
  const index = indexOf(runs, files, manySets)
  const matches = await index.match(
    { ...noFilters, platforms: undefined, featureTypes: ['ODD'], units: ['ocw'] },
    unasked,
  )
  t.equal(matches.count, 2_500)
  t.strictSame(matches.idsAt(2_498, 10), [100_000 - 4_997, 100_000 - 4_999])
})

test('files of a module are narrowed like all others', async t => {
  const runs = [
    { id: 7, resourceId: 1, unit: 0, platform: 0 },
    { id: 8, resourceId: 2, unit: 1, platform: 0 },
  ]
  const index = indexOf(runs, [])
  const filters = { ...noFilters, platforms: undefined, moduleIds: ['X'], units: ['ocw'] }
  const asked: (readonly string[])[] = []
  const matches = await index.match(filters, async moduleIds => {
    asked.push(moduleIds)
    // The last one belongs to a run that the index does not know yet.
    return {
      ids: Float64Array.from([31, 30, 29, 28]),
      runs: Int32Array.from([0, 1, 1, -1]),
      sets: Int32Array.from([0, 1, 2, 0]),
    }
  })
  t.strictSame(matches.idsAt(0, 10), [30, 29])
  t.strictSame(asked, [['X']])
  const lets = (runId: number, moduleId: string | null) => index.lets(filters, { runId, setId: 5, moduleId })
  t.strictSame([lets(8, 'x'), lets(8, 'y'), lets(8, null)], [true, false, false])
  t.notOk(lets(9, 'x'), 'of a run that is not known yet')
})
