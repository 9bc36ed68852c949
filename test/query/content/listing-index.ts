/** The index of the listing against a plain reading of the same files. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type pg from 'pg'
import t, { test } from 'tap'
import { indented, listAnswer } from '../../../api/content-files/answer.ts'
import { createRandom } from '../../../cli/demo/noise.ts'
import { type FileRow, fileText, moduleIdOf, type OwnFields } from '../../../query/content/file-text.ts'
import { type Filters, foldCase, moduleDigest } from '../../../query/content/filters.ts'
import { createIndexHolder, type IndexHolderOptions } from '../../../query/content/index-holder.ts'
import { type FeatureSet, ListingIndex, placesOf } from '../../../query/content/listing-index.ts'
import { startContentFileStore } from '../../support/content-files.ts'
import { silentLog } from '../../support/databases.ts'
import { until } from '../../support/processes.ts'
import { runs } from '../../support/runs.ts'
import { sampleLines } from '../../support/sample-content-files.ts'

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
/** Files have the places of their run and set. They make up to three blocks. */
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

test('filters return the matching files in order', async () => {
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

const { postgres, importLines } = await startContentFileStore(t)
await importLines(sampleLines)
let nowMs = 1_000_000

function start(t: { teardown(work: () => unknown): void }, more: Partial<IndexHolderOptions>) {
  const listing = createIndexHolder({ pool: postgres, nowMs: () => nowMs, log: silentLog, ...more })
  t.teardown(() => listing.close())
  return listing
}

async function change(): Promise<string> {
  await postgres.query(`UPDATE content_files SET own_fields = '{}' WHERE id = 40`)
  const { rows } = await postgres.query<{ version: string }>('SELECT version::text FROM content_version')
  return rows[0]?.version ?? ''
}

t.test('an index of few files is waited for', async t => {
  const listing = start(t, { waitedForFilesMax: 5 })
  const index = await listing.current()
  t.equal(index.size, 5)
  t.equal(await listing.current(), index)
  t.equal(listing.newer(index, index.version, false), undefined)
  const version = await change()
  const newer = await listing.newer(index, version, false)
  t.equal(newer?.version, version)
  t.equal(await listing.current(), newer)
  // A request that began before the new index came gets the same one.
  t.equal(await listing.newer(index, version, false), newer)
})

t.test('concurrent requests share one build of the index', async t => {
  const listing = start(t, {})
  const index = await listing.current()
  const version = await change()
  const made = await Promise.all(Array.from({ length: 20 }, () => listing.newer(index, version, false)))
  t.equal(new Set(made).size, 1)
})

t.test('an index that was begun before a change does not count as one after it', async t => {
  const gate = Promise.withResolvers<void>()
  let isHeld = false
  let held = 0
  // A build reads the state at the moment of its first statement.
  const connect = async () => {
    const client = await postgres.connect()
    const query = async (config: pg.QueryConfig, values?: unknown[]) => {
      const answer = await client.query(config, values)
      if (isHeld && config.text.includes('content_version')) {
        held++
        await gate.promise
      }
      return answer
    }
    const { on, off } = client
    return { query, on: on.bind(client), off: off.bind(client), release: (failed: boolean) => client.release(failed) }
  }
  const listing = start(t, { pool: { connect } as unknown as pg.Pool })
  const index = await listing.current()
  isHeld = true
  const early = listing.newer(index, await change(), false)
  await until('a build is held', () => held === 1)
  const version = await change()
  const late = listing.newer(index, version, false)
  isHeld = false
  gate.resolve()
  t.not((await early)?.version, index.version)
  t.equal((await late)?.version, version)
})

t.test('an index of many files answers while another one is made, but not for long', async t => {
  const listing = start(t, { waitedForFilesMax: 4, staleMsMax: 10_000 })
  const index = await listing.current()
  nowMs += 60_000
  t.equal(listing.newer(index, index.version, false), undefined, 'it holds now')
  const version = await change()
  nowMs += 9_000
  t.equal(listing.newer(index, version, false), undefined, 'it may be shown')
  await until('another one is made', async () => (await listing.current()) !== index)
  t.equal((await listing.current()).version, version)
  const later = await change()
  nowMs += 11_000
  t.equal((await listing.newer(await listing.current(), later, false))?.version, later, 'it is too old to be shown')
  const last = await change()
  t.equal(listing.newer(await listing.current(), last, false), undefined)
  t.equal((await listing.newer(await listing.current(), last, true))?.version, last, 'it lacks something')
})

t.test('after its close it makes no index', async t => {
  const listing = start(t, {})
  await listing.close()
  await t.rejects(listing.current(), /closed/)
  await listing.close()
})

/** Some texts look like the places where a text is cut. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(',"content_type":', ',"file_type":', '","edx_module_id":"', 'a,', '\\', '"', ',"'),
)
const anyTextOrNull = fc.option(anyText)
const anyOwn: fc.Arbitrary<OwnFields> = fc.record({
  key: anyText,
  uid: anyTextOrNull,
  title: anyTextOrNull,
  description: anyTextOrNull,
  require_summaries: fc.boolean(),
  url: anyTextOrNull,
  content_type: fc.constantFrom('page', 'file', 'video', 'pdf'),
  content_title: anyTextOrNull,
  content_author: anyTextOrNull,
  content_language: anyTextOrNull,
  checksum: anyTextOrNull,
  image_src: anyTextOrNull,
  file_type: anyTextOrNull,
  file_extension: anyTextOrNull,
  edx_module_id: anyTextOrNull,
  summary: anyText,
  flashcards: fc.array(fc.record({ question: anyText, answer: anyText }), { maxLength: 2 }),
})
const run = { id: 7, runText: '"run_id":7', resourceText: '"resource_id":"8"', offeringText: '"offered_by":{}' }

function rowOf(own: OwnFields): FileRow {
  return { id: 5, runId: 7, setId: 1, own: JSON.stringify(own) }
}

/** Returns the fields in the order of the interface. */
function expected(own: OwnFields, types: readonly string[]): object {
  const { key, uid, title, description, require_summaries, url, ...second } = own
  const { file_type, file_extension, edx_module_id, summary, flashcards, ...typed } = second
  const first = { id: 5, run_id: 7, key, uid, title, description, require_summaries, url }
  const last = { file_type, file_extension, offered_by: {}, edx_module_id, summary, flashcards }
  return { ...first, content_feature_type: types, ...typed, resource_id: '8', ...last }
}

test('a file is cut where something else comes between its own fields, whatever its texts say', async () => {
  fc.assert(
    fc.property(anyOwn, fc.array(anyText), (own, types) => {
      const row = rowOf(own)
      assert.equal(fileText(row, run, types), JSON.stringify(expected(own, types)))
      assert.equal(moduleIdOf(row), own.edx_module_id)
    }),
  )
})

test('a part of the list holds each of its files', async () => {
  fc.assert(
    fc.property(fc.array(anyOwn, { maxLength: 5 }), fc.nat(), anyTextOrNull, (owns, count, next) => {
      const links = { next, previous: null }
      const texts = owns.map(own => fileText(rowOf(own), run, []))
      const answer = listAnswer(count, links, texts)
      const whole = { count, ...links, results: owns.map(own => expected(own, [])) }
      assert.equal(answer.json.toString(), JSON.stringify(whole))
      assert.equal(indented(answer, 4), JSON.stringify(whole, null, 4))
    }),
  )
})

test('letters of any alphabet count the same in both cases', async t => {
  const pairs = ['Lecture lecture', 'ÜBUNG übung', 'ЛЕКЦИЯ лекция', 'ΟΔΟΣ οδος', 'οδοσ οδος', 'Straße STRASSE', 'ﬁ FI']
  for (const pair of [...pairs, 'K k', 'ſ s', 'ẞ ß', '𐐀 𐐨', 'Ǆ ǅ']) {
    const [a = '', b = ''] = pair.split(' ')
    t.equal(foldCase(a), foldCase(b), pair)
    t.strictSame(moduleDigest(a), moduleDigest(b), pair)
  }
  t.not(foldCase('é'), foldCase('e'))
  t.not(foldCase('a b'), foldCase('ab'))
  t.equal(moduleDigest('block-v1:x').length, 16)
  t.notSame(moduleDigest('block-v1:x'), moduleDigest('block-v1:y'))
})
