/** Listeners to a journal receive exactly the records on the disk, in its order. */

import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import type { JournalThreadHooks } from '../../ingest/journal/medium.ts'
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

/** `[device, temperature]` of all received records. */
function collect(journal: ReadingJournal): [number, number][] {
  const seen: [number, number][] = []
  journal.onStored(stored => {
    const before = seen.length
    while (stored.next()) {
      seen.push([stored.series, stored.value(0)])
      if (stored.value(2) !== 1000 || !Number.isSafeInteger(stored.timeUs)) throw new Error('it is another record')
    }
    if (seen.length - before !== stored.count) throw new Error(`${stored.count} records were announced`)
  })
  return seen
}

test('all write paths into the journal report each record once, in its order', async t => {
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
  await waitFor('all records are received', () => first.length >= expected.length)
  t.equal(JSON.stringify(first), JSON.stringify(expected))
  t.equal(JSON.stringify(second), JSON.stringify(expected))
})

test('refused, failed, unknown and erased records are not reported', async t => {
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
  const seen = collect(journal)
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
  t.strictSame(seen, [
    [1, 1],
    [1, 3],
    [3, 9],
  ])
})

test('a listener that throws is logged once without effect on the journal and other listeners', async t => {
  const logged: string[] = []
  const log = { ...silentLog, error: (...[, text]: unknown[]) => void logged.push(String(text)) }
  const { journal, append } = openJournal(t, { log })
  let calls = 0
  journal.onStored(() => {
    calls++
    throw new Error('made for the test')
  })
  const seen = collect(journal)
  for (let temperature = 0; temperature < 5; temperature++) t.equal(await append(temperature), 'stored')
  await waitFor('all records are received', () => seen.length === 5)
  t.equal(calls, 5)
  t.strictSame(logged, ['a listener to stored records failed'])
})
