/** A write path on hold: rows are accepted without being sent or removed. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { temporaryFolder } from '../support/databases.ts'
import { device, reading } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { openTestIngest } from './open-ingest.ts'

const { address } = await startQuestdb(t)
const questdb = createQuestdbClient(address.http)
t.teardown(() => questdb.close())
const directory = temporaryFolder(t)
const ingest = openTestIngest(t, { directory })
const accept = async () => t.equal(await ingest.accept(device(1), reading(20)), 'stored')

async function rows(): Promise<number> {
  const [row] = await questdb.exec('SELECT count() FROM readings', 10_000)
  return Number(row?.[0])
}

t.test('a hold is given up before there is a QuestDB', async () => {
  const held = ingest.files?.hold()
  ingest.files?.release()
  ingest.startForwarding(address.http, true)
  await accept()
  await until('the row is there', async () => (await rows()) === 1)
  void held
})

t.test('sent rows are applied while others are neither sent nor removed until the release', async t => {
  await accept()
  await ingest.files?.hold()
  // The second row may not have been sent.
  const visible = await rows()
  const files = () => readdirSync(directory).filter(name => name.endsWith('.journal'))
  const checkpoint = readFileSync(join(directory, 'checkpoint'), 'utf8')
  const [first] = files()
  // Ends the segment, so that it would be removed.
  const erased = ingest.erase([2])
  for (let round = 0; round < 30; round++) {
    await accept()
    t.equal(await rows(), visible)
  }
  t.ok(files().includes(first ?? ''), 'a segment that is applied stays')
  t.equal(readFileSync(join(directory, 'checkpoint'), 'utf8'), checkpoint)
  ingest.files?.release()
  await erased
  await until('all rows are there', async () => (await rows()) === 32)
  await until('the segment is removed', () => !files().includes(first ?? ''))
})
