/** How old an answer may be: the index of few files is made anew at once, that of many behind the answers. */

import type pg from 'pg'
import t from 'tap'
import { createIndexHolder, type IndexHolderOptions } from '../../../query/content/index-holder.ts'
import { startContentFileStore } from '../../support/content-files.ts'
import { silentLog } from '../../support/databases.ts'
import { until } from '../../support/processes.ts'
import { sampleLines } from '../../support/sample-content-files.ts'

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

t.test('many ask at once, and one index is made for all', async t => {
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
