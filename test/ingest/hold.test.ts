/** A write path that is held: rows are taken, and neither QuestDB nor the journal's files see anything of it. */

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openIngest } from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'

const { address } = await startQuestdb(t)
const questdb = createQuestdbClient(address.http)
t.teardown(() => questdb.close())
const directory = join(temporaryFolder(t), 'journal')
mkdirSync(directory)
const ingest = openIngest({
  directory,
  journalBytesMax: 1024 ** 3,
  reserveBytes: 0,
  keepMs: 0,
  log: silentLog,
  clock: createWallClock({ nowMs: Date.now }),
  onFatal: error => t.fail(error.message),
})
t.teardown(() => ingest.close())

const device = { number: 1, symbol: 'porch-1' }
const reading = {
  temperature: 20,
  humidity: 50,
  pressure: 1000,
  battery_voltage: Number.NaN,
  battery_percentage: Number.NaN,
}
const accept = async () => t.equal(await ingest.accept(device, { timestampMs: undefined, ...reading }), 'stored')

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

t.test('what was sent is applied, and nothing is sent or removed until the release', async t => {
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
