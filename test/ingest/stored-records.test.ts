/** What listeners to a journal are told: the records that are on the disk, in its order, and no others. */

import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import type { JournalThreadHooks } from '../../ingest/journal/journal-worker.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import { silentLog, type TestHooks, temporaryFolder } from '../support/databases.ts'
import { device, reading, records } from '../support/journal-parts.ts'
import { waitFor } from '../support/wait-for.ts'
import { openTestJournal, type ReadingJournal, type TestJournalOptions } from './test-journal.ts'

function openJournal(t: TestHooks, options: Partial<TestJournalOptions> = {}) {
  const journal = openTestJournal(t, temporaryFolder(t), options)
  const append = (temperature: number, timestampMs?: number): Promise<Outcome> => {
    return new Promise(resolve => journal.append(device(1), reading(temperature, timestampMs), resolve))
  }
  return { journal, append }
}

/** `[device, temperature]` of all that was told so far. */
function collect(journal: ReadingJournal): [number, number][] {
  const told: [number, number][] = []
  journal.onStored(stored => {
    const before = told.length
    while (stored.next()) {
      told.push([stored.series, stored.value(0)])
      if (stored.value(2) !== 1000 || !Number.isSafeInteger(stored.timeUs)) throw new Error('it is another record')
    }
    if (told.length - before !== stored.count) throw new Error(`${stored.count} records were announced`)
  })
  return told
}

test('all ways into the journal are told in its order, each record once', async t => {
  const { journal, append } = openJournal(t)
  const [first, second] = [collect(journal), collect(journal)]
  const temperatures = Array.from({ length: 10_000 }, (_, index) => index)
  const expected: [number, number][] = []
  for (let round = 0; round < 2; round++) {
    const live = Array.from({ length: 50 }, (_, index) => append(round * 50 + index))
    for (let index = 0; index < 50; index++) expected.push([1, round * 50 + index])
    const bulk = journal.appendRecords(records(device(2), temperatures, 1e15 + round * 1e6))
    for (const temperature of temperatures) expected.push([2, temperature])
    t.ok((await Promise.all([...live, bulk])).every(outcome => outcome === 'stored'))
  }
  await waitFor('all records are told', () => first.length >= expected.length)
  t.equal(JSON.stringify(first), JSON.stringify(expected))
  t.equal(JSON.stringify(second), JSON.stringify(expected))
})

test('what is refused, failed, unknown or erased is not told', async t => {
  const outcomes: ('stored' | 'full' | 'unknown')[] = ['full', 'stored', 'unknown', 'stored']
  let hooks: JournalThreadHooks | undefined
  let end = 0
  const { journal, append } = openJournal(t, {
    startThread: (_data, given) => {
      hooks = given
      return {
        commit: () => {
          const outcome = outcomes.shift() ?? 'stored'
          if (outcome === 'stored') end += 1000
          setImmediate(() => hooks?.onMessage({ kind: 'committed', outcome, end, reason: undefined }))
        },
        stop: async () => undefined,
      }
    },
    after: () => () => undefined,
  })
  const told = collect(journal)
  const settled = []
  for (let temperature = 0; temperature < 4; temperature++) settled.push(await append(temperature))
  t.strictSame(settled, ['full', 'stored', 'unknown', 'stored'])
  await journal.endSeries([2])
  const ofBoth = Buffer.concat([records(device(2), [8], 0), records(device(3), [9], 0)])
  t.equal(await journal.appendRecords(ofBoth), 'stored')
  const closing = journal.close()
  t.equal(await append(10), 'closing')
  await closing
  await turn()
  t.strictSame(told, [
    [1, 1],
    [1, 3],
    [3, 9],
  ])
})

test('a listener that throws is logged once, and neither the journal nor other listeners notice', async t => {
  const logged: string[] = []
  const log = { ...silentLog, error: (...[, text]: unknown[]) => void logged.push(String(text)) }
  const { journal, append } = openJournal(t, { log })
  let calls = 0
  journal.onStored(() => {
    calls++
    throw new Error('made for the test')
  })
  const told = collect(journal)
  for (let temperature = 0; temperature < 5; temperature++) t.equal(await append(temperature), 'stored')
  await waitFor('all records are told', () => told.length === 5)
  t.equal(calls, 5)
  t.strictSame(logged, ['a listener to stored records failed'])
})
