/** Erased series in dead letters: the remaining bytes, the order of durability, and the state after a power cut. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDeadLetters, lettersIn } from '../../ingest/dead-letters.ts'
import { isWhole, letterNames, listDeadLetters, nameOf, writeDeadLetter } from '../../ingest/forwarder/dead-letters.ts'
import { DeadLetterStore } from '../../ingest/forwarder/forwarder-files.ts'
import { FileRetry, IssueLog } from '../../ingest/forwarder/issue-log.ts'
import { type Disk, openDisk } from '../../ingest/journal/disk.ts'
import { erasedCustom } from '../../ingest/journal/record.ts'
import { LetterFiles } from '../../ingest/kafka/consume/forwarder.ts'
import { readingLength, readings, writeReading } from '../../ingest/readings-table.ts'
import { Sleeper, systemTiming } from '../../ingest/timing.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { createSimulatedDisk } from '../faults/simulated-disk.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

const reading = { temperature: 20, humidity: 50, pressure: 1000, battery_voltage: 3, battery_percentage: 50 }

/** A letter of this device. Each custom series has a distinct value that is found in the bytes. */
function write(disk: Disk, id: number, device: number, series: number[]): void {
  const values = series.map(valueOfSeries)
  const given = { ...reading, timestampMs: 1, ...(series.length === 0 ? {} : { custom: { series, values } }) }
  const ref = { number: device, symbol: `device-${device}` }
  const bytes = new Uint8Array(readingLength(ref, given))
  writeReading(new DataView(bytes.buffer), 0, ref, 1000, false, given)
  writeDeadLetter(readings, disk, id, bytes, 'too dirty', 0)
}

const valueOfSeries = (series: number) => series * 1000 + 0.5

function storeOn(disk: Disk): { store: DeadLetterStore; issues: IssueLog } {
  const issues = new IssueLog(silentLog)
  const retry = new FileRetry(issues, new Sleeper(systemTiming))
  const parts = { table: readings, disk, nowMs: () => 0, log: silentLog, issues, retry }
  return { store: new DeadLetterStore({ ...parts, letterId: position => position }), issues }
}

const erased = new Set([5, erasedCustom(11)])

t.test('letters of an erased series go, values of an erased further one are taken out, durably', async t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  write(disk, 1, 5, [12])
  write(disk, 2, 6, [11, 12])
  write(disk, 3, 7, [12])
  write(disk, 4, 8, [11])
  const steps: string[] = []
  const { store } = storeOn({
    ...disk,
    list: () => disk.list().sort((a, b) => (a < b ? -1 : 1)),
    remove: name => {
      steps.push(`remove ${Number(name.slice(5, 21))}`)
      disk.remove(name)
    },
    replace: (name, bytes) => {
      steps.push(`replace ${Number(name.slice(5, 21))}`)
      disk.replace(name, bytes)
    },
    syncDirectory: () => {
      steps.push('sync')
      disk.syncDirectory()
    },
  })
  t.strictSame(await store.erase(erased), [])
  t.strictSame(steps, ['remove 1', 'replace 2', 'replace 4', 'sync'])
  t.equal(store.count, 3)
  const letters = await listDeadLetters(readings, folder, -1, 10)
  const further = [{ series: 12, value: valueOfSeries(12) }]
  t.match(letters, [
    { id: 2, series: 6, further },
    { id: 3, series: 7, further },
    { id: 4, series: 8 },
  ])
  t.strictSame(letters.filter(isWhole)[2]?.further, undefined)
  t.strictSame(await store.erase(erased), [])
  t.equal(steps.length, 4, 'nothing is left to do')
})

t.test('a letter that is discarded while it is written again stays discarded', async t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  write(disk, 2, 6, [11, 12])
  const name = letterNames(disk)[0] ?? ''
  const { store } = storeOn({
    ...disk,
    replace(...given) {
      rmSync(join(folder, name))
      disk.replace(...given)
    },
  })
  t.strictSame(await store.erase(erased), [])
  t.ok(existsSync(join(folder, name)), 'it is back')
  await store.removed([2])
  t.notOk(existsSync(join(folder, name)))
  t.equal(store.count, 0)
})

/** Ways in which a file is damaged, with the reasons that are listed. */
const other = 'the fields of the file do not match its record'
const damages: [what: string, damage: (text: string) => string, reason: string][] = [
  ['cut short', text => text.slice(0, 20), 'the file is not JSON'],
  ['without an object', () => 'null', 'the file holds no record of readings'],
  ['without its record', text => text.replace('"record"', '"recorx"'), 'the file holds no record of readings'],
  ['without its reason', text => text.replace('"reason"', '"reasox"'), other],
  ['with another value', text => text.replace('"humidity":50', '"humidity":51'), other],
]

function damage(folder: string, id: number, how: (text: string) => string = text => text.slice(0, 20)): void {
  const path = join(folder, nameOf(id))
  writeFileSync(path, how(readFileSync(path, 'utf8')))
}

t.test('a damaged letter is listed with its file and the reason', async t => {
  for (const [what, how, reason] of damages) {
    const folder = temporaryFolder(t)
    for (const id of [1, 2, 3]) write(openDisk(folder), id, 6, [11, 12])
    damage(folder, 2, how)
    const damaged = { id: 2, name: 'dead-0000000000000002.json', damage: reason }
    t.match(await listDeadLetters(readings, folder, -1, 10), [{ id: 1, series: 6 }, damaged, { id: 3 }], what)
  }
})

t.test('an erase passes over damaged letters and returns their names', async t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  for (const id of [2, 3, 4, 5]) write(disk, id, id === 4 ? 5 : 6, [11, 12])
  for (const id of [5, 2]) damage(folder, id)
  let syncs = 0
  const { store, issues } = storeOn({
    ...disk,
    syncDirectory() {
      syncs++
      disk.syncDirectory()
    },
  })
  t.strictSame(new Set(await store.erase(erased)), new Set([nameOf(2), nameOf(5)]))
  t.equal(syncs, 1, 'durably')
  t.equal(issues.fileIssue, undefined)
  t.equal(store.count, 3)
  t.match(await listDeadLetters(readings, folder, 2, 1), [{ id: 3, further: [{ series: 12 }] }])
  rmSync(join(folder, nameOf(2)))
  write(disk, 5, 6, [11, 12])
  t.strictSame(await store.erase(erased), [], 'none is damaged any more')
  t.match(await listDeadLetters(readings, folder, 3, 1), [{ id: 5, further: [{ series: 12 }] }])
})

t.test('a replay skips and counts damaged letters, which are discarded by id', async t => {
  const folder = temporaryFolder(t)
  for (const id of [1, 2, 3]) write(openDisk(folder), id, 6, [])
  damage(folder, 2)
  let appended = 0
  const kept = lettersIn(readings, folder, async () => undefined)
  const letters = createDeadLetters(readings, kept, async () => {
    appended++
    return 'stored'
  })
  t.strictSame(await letters.replay([2, 3]), { replayed: 1, damaged: 1, outcome: 'stored' })
  t.strictSame(await letters.replay(), { replayed: 1, damaged: 1, outcome: 'stored' })
  t.equal(appended, 2)
  t.match(await letters.list(-1, 10), [{ id: 2, name: nameOf(2) }])
  t.equal(await letters.discard([2]), 1)
  t.strictSame(await letters.list(-1, 10), [])
  t.strictSame(await letters.replay(), { replayed: 0, damaged: 0, outcome: 'stored' })
})

t.test('a damaged letter of a spool is reported without being committed with the others', async t => {
  const folder = temporaryFolder(t)
  for (const id of [1, 2, 3]) write(openDisk(folder), id, 6, [])
  damage(folder, 2)
  const files = new LetterFiles(readings, folder)
  const { letters, damaged } = await files.list(3)
  t.match(letters, [{ id: 1 }, { id: 3 }])
  t.strictSame(damaged, [nameOf(2)])
  files.moved([1, 2, 3])
  t.strictSame(await files.list(3), { letters: [], damaged: [] }, 'its file is being removed')
})

t.test('erased values are gone after the erase, wherever the power is cut', async t => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  t.comment(`seed ${seed}`)
  const random = createRandom(seed)
  const has = (disk: Disk) => {
    return letterNames(disk).filter(name => {
      const file = disk.open(name, false)
      const bytes = Buffer.alloc(file.size())
      file.read(bytes, 0)
      const letter = JSON.parse(bytes.toString())
      return Buffer.from(letter.record, 'base64').includes(Buffer.from(new Float64Array([valueOfSeries(11)]).buffer))
    })
  }
  for (let stopsIn = 0; stopsIn < 20; stopsIn++) {
    const disk = createSimulatedDisk(random)
    for (let id = 0; id < 3; id++) write(disk, id, 6, [11, 12])
    disk.switches.stopsIn = stopsIn
    const hasEnded = await storeOn(disk)
      .store.erase(erased)
      .catch(() => undefined)
    const next = disk.restart(random, 'power cut')
    t.equal(letterNames(next).length, 3, 'no letter is lost')
    if (hasEnded !== undefined) t.strictSame(has(next), [], `it has ended before operation ${stopsIn}`)
    t.strictSame(await storeOn(next).store.erase(erased), [])
    t.strictSame(has(next.restart(random, 'power cut')), [])
  }
})

t.test('letters are discarded and replayed after the forwarder has removed their rest', async t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  for (const id of [1, 2]) write(disk, id, 5, [])
  const asked: { ids: readonly number[]; answer: () => void }[] = []
  const kept = lettersIn(readings, folder, ids => new Promise<void>(answer => asked.push({ ids, answer })))
  const letters = createDeadLetters(readings, kept, async () => 'stored')
  let hasEnded = false
  async function endsWithAnswer(run: Promise<unknown>, id: number): Promise<void> {
    hasEnded = false
    const ending = run.then(() => {
      hasEnded = true
    })
    await waitFor('the forwarder is asked', () => asked.at(-1)?.ids[0] === id)
    await new Promise(setImmediate)
    t.notOk(hasEnded, 'not before the answer')
    t.notOk(existsSync(join(folder, nameOf(id))))
    asked.at(-1)?.answer()
    await ending
  }
  await endsWithAnswer(letters.discard([1]), 1)
  await endsWithAnswer(letters.replay(), 2)
})

t.test('leftovers of a process that died while writing a letter are removed', t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  write(disk, 1, 5, [])
  const unfinished = join(folder, `${letterNames(disk)[0]}.new`)
  writeFileSync(unfinished, '{"id":1')
  const { store } = storeOn(disk)
  t.equal(store.count, 1)
  t.notOk(existsSync(unfinished))
  t.end()
})
