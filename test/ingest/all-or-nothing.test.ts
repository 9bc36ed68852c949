/** Bodies that are stored as a whole: the state of their records, and partial refusals by the journal. */

import { readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { type Test, test } from 'tap'
import { importAllOrNothing } from '../../ingest/import/all-or-nothing.ts'
import type { Append, ImportResult, ImportSource } from '../../ingest/import/import.ts'
import { appendInPieces } from '../../ingest/write-path.ts'
import { temporaryFolder } from '../support/databases.ts'
import { device, records } from '../support/journal-parts.ts'

type Outcome = Awaited<ReturnType<Append>>

const parts = [1, 2, 3, 4].map(byte => new Uint8Array(10).fill(byte))
const all = Buffer.concat(parts).toString('hex')
const report = { accepted: 4, rejected: 0 } as ImportResult['report']

/** The first two parts wait in memory, the others in a file. The journal answers with these outcomes. */
async function runWith(t: Test, outcomes: Outcome[], memoryBytesMax = 20, body: Partial<ImportResult> = {}) {
  const directory = temporaryFolder(t)
  const appended: string[] = []
  const terms: number[] = []
  let term = 0
  const importer = {
    async run({ append }: ImportSource): Promise<ImportResult> {
      for (const part of parts) await append?.(part, { series: [], oldestMs: 0 })
      return { report, ...body }
    },
  }
  const source: ImportSource = { body: Readable.from([]), format: 'csv', resolve: async () => [] }
  const result = await importAllOrNothing(source, {
    importer,
    append: async (records, term) => {
      terms.push(term)
      const outcome = records.length === 0 ? 'stored' : (outcomes.shift() ?? 'stored')
      if (outcome === 'stored' && records.length > 0) appended.push(Buffer.from(records).toString('hex'))
      return outcome
    },
    term: () => ++term,
    hasRoom: () => true,
    decide: async (_body, store) => await store(),
    spool: { directory, memoryBytesMax, bytesMax: 1000 },
  })
  t.strictSame(readdirSync(directory), [])
  return { result, appended, terms }
}

test('all records are handed on in their order, or a failure says whether a part of them is stored', async t => {
  for (const memoryBytesMax of [0, 20, 100]) {
    const { result, appended, terms } = await runWith(t, [], memoryBytesMax)
    t.equal(appended.join(''), all)
    t.ok(terms.length > 0 && terms.every(term => term === 1), 'all as of the moment when they may be stored')
    t.strictSame(result, { report })
  }
  for (const memoryBytesMax of [0, 20]) {
    for (const [outcome, code] of Object.entries({ full: 'STORAGE_FULL', closing: 'CLOSING' }) as [Outcome, string][]) {
      const first = await runWith(t, [outcome], memoryBytesMax)
      t.strictSame([first.result.failure?.code, first.appended], [code, []])
      const second = await runWith(t, ['stored', outcome], memoryBytesMax)
      t.equal(second.result.failure?.code, 'STORAGE_FAILED', 'a part of it is stored')
      t.strictSame([second.appended.length, second.result.report.accepted], [1, 0])
    }
  }
})

test('a body that is cut stores nothing', async t => {
  for (const code of ['CLOSING', 'BODY_BROKEN', 'TIMEOUT', 'DATABASE_AWAY', 'PAYLOAD_TOO_LARGE'] as const) {
    const failure = { code, reason: 'a test' }
    const { result, appended } = await runWith(t, [], 20, { failure })
    t.strictSame(appended, [], code)
    t.strictSame(result, { report: { ...report, accepted: 0, replaced: 0 }, failure })
  }
})

test('records of several pieces that the journal takes in part have an unknown outcome', async t => {
  const temperatures = Array.from({ length: 20_000 }, (_, index) => index / 1000)
  const several = records(device(1), temperatures, 0)
  for (const outcome of ['full', 'closing'] as const) {
    const outcomes: Outcome[] = []
    const appended: number[] = []
    const journal = {
      bulkBytesMax: 100_000,
      term: () => 0,
      async appendRecords(piece: Uint8Array) {
        appended.push(piece.length)
        return outcomes.shift() as 'stored'
      },
    }
    const append = () => appendInPieces(journal, several)
    outcomes.push(outcome)
    t.equal(await append(), outcome, 'nothing is stored')
    outcomes.push('stored', outcome)
    t.equal(await append(), 'unknown')
    t.equal(appended.length, 3, 'nothing is tried behind what was refused')
    outcomes.push(...Array.from({ length: 100 }, () => 'stored' as const))
    t.equal(await append(), 'stored')
    const sum = appended.slice(3).reduce((bytes, length) => bytes + length, 0)
    t.equal(sum, several.length)
    t.ok(appended.length > 4)
  }
})
