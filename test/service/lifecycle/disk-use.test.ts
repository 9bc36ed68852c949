/** The use of the disk, and the time at which it will be full. */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  addSample,
  type DiskSample,
  forecast,
  readSamples,
  samplesMax,
  watchDiskUse,
  writeSamples,
} from '../../../service/lifecycle/disk/disk-use.ts'
import { silentLog, temporaryFolder } from '../../support/databases.ts'

const hourMs = 3_600_000
const managed = { QUESTDB_HTTP: undefined, DATABASE_URL: undefined }
const external = { QUESTDB_HTTP: 'http://127.0.0.1:9', DATABASE_URL: 'postgresql://127.0.0.1:9/x' }
const dayMs = 24 * hourMs
/** Readings never expire. */
const noRun = { expiredDays: 0, lastRunMs: undefined, fault: undefined, waiting: undefined }
const unlimited = { days: undefined, oldestDayMs: undefined, ...noRun }
const never = { state: () => unlimited }
const startMs = Date.UTC(2026, 10, 1)

/** One each hour, in bytes of QuestDB. */
function hours(count: number, bytesAt: (hour: number) => number): DiskSample[] {
  return Array.from({ length: count }, (_, hour) => {
    return { atMs: startMs + hour * hourMs, journal: 0, questdb: bytesAt(hour), postgres: 0 }
  })
}

t.test('steady growth is found, whatever the noise of a single day', async t => {
  const bytesAt = (day: number) => 10 ** 10 + day * 1000 + (day === 5 ? 10 ** 12 : 0)
  const found = forecast(
    hours(336, hour => bytesAt(Math.floor(hour / 24))),
    100_000,
  )
  t.strictSame(found, { growthBytesPerDay: 1000, daysUntilFull: 100 })
})

t.test('the day of a full disk needs enough days and growth', async t => {
  const growing = (hour: number) => hour
  const cases: [count: number, bytesAt: (hour: number) => number, growth: number | undefined, days?: number][] = [
    [0, growing, undefined],
    [72, growing, undefined],
    [96, () => 7, 0],
    [96, hour => 1000 - hour, -24],
    [96, growing, 24, 2],
  ]
  for (const [count, bytesAt, growthBytesPerDay, daysUntilFull] of cases) {
    t.strictSame(forecast(hours(count, bytesAt), 48), { growthBytesPerDay, daysUntilFull })
  }
})

t.test('samples are kept for two weeks, except future ones of a wrong clock', async t => {
  let samples: DiskSample[] = []
  for (const sample of hours(400, hour => hour)) samples = addSample(samples, sample)
  t.equal(samples.length, samplesMax)
  t.equal(samples.at(-1)?.questdb, 399)
  const back = addSample(samples, { atMs: startMs + 300 * hourMs, journal: 1, questdb: 2, postgres: 3 })
  t.equal(back.at(-1)?.journal, 1)
  const file = join(temporaryFolder(t), 'disk-samples')
  writeSamples(file, samples)
  t.strictSame(readSamples(file, startMs + 400 * hourMs), samples)
  t.equal(readSamples(file, startMs + 200 * hourMs).at(-1)?.questdb, 200)
})

t.test('a file that is missing, damaged or too large counts for nothing', async t => {
  const file = join(temporaryFolder(t), 'disk-samples')
  t.strictSame(readSamples(file, startMs), [])
  const long = [`[${'[1,2,3,4],'.repeat(400)}[1,2,3,4]]`, ' '.repeat(70_000)]
  for (const text of ['', '[', '{}', '[[1,2,3]]', '[[1,2,3,-4]]', ...long]) {
    writeFileSync(file, text)
    t.strictSame(readSamples(file, startMs), [], text.slice(0, 20))
  }
})

t.test('a disk that lasts until the oldest readings expire does not get full', async t => {
  const samples = hours(96, hour => hour)
  const growthBytesPerDay = 24
  t.strictSame(forecast(samples, 48, 3), { growthBytesPerDay, daysUntilFull: 2 }, 'it is full before')
  t.strictSame(forecast(samples, 48, 2), { growthBytesPerDay, daysUntilFull: undefined })
  t.strictSame(forecast(samples, 48, undefined), { growthBytesPerDay, daysUntilFull: 2 })
  const path = temporaryFolder(t)
  const directory = { path, journal: join(path, 'j'), pointsJournal: join(path, 'p'), questdb: path, postgres: path }
  const nowMs = startMs + 96 * hourMs
  const grown = hours(96, hour => hour * 1000)
  writeSamples(join(path, 'disk-samples'), grown)
  for (const [days, oldestDay, isFull] of [
    [undefined, 4, true],
    [30, 4, false],
    [30, undefined, true],
    // Everything before has expired, so this growth is of something else.
    [4, 4, true],
  ] as const) {
    const oldestDayMs = oldestDay === undefined ? undefined : nowMs - oldestDay * dayMs
    const retention = { state: () => ({ ...unlimited, days, oldestDayMs }) }
    const use = watchDiskUse({ directory, config: managed, retention, nowMs: () => nowMs, log: silentLog })
    const { daysUntilFull } = await use.read()
    t.equal(daysUntilFull !== undefined, isFull, `${days} days, the oldest ${oldestDay} days ago`)
    await use.measured
    await use.close()
  }
})

t.test('the folders are measured, with samples that survive a restart', async t => {
  const path = temporaryFolder(t)
  const names = ['journal', 'points', 'questdb', 'postgres']
  const [journal = '', pointsJournal = '', questdb = '', postgres = ''] = names.map(name => join(path, name))
  const directory = { path, journal, pointsJournal, questdb, postgres }
  for (const name of names) mkdirSync(join(path, name, 'deep'), { recursive: true })
  writeFileSync(join(path, 'journal', 'a'), Buffer.alloc(100_000, 1))
  writeFileSync(join(path, 'points', 'a'), Buffer.alloc(100_000, 1))
  writeFileSync(join(path, 'questdb', 'deep', 'b'), Buffer.alloc(1_000_000, 1))
  rmSync(join(path, 'postgres'), { recursive: true })
  let nowMs = startMs
  for (let day = 0; day < 4; day++) {
    const use = watchDiskUse({ directory, config: managed, retention: never, nowMs: () => nowMs, log: silentLog })
    await use.measured
    const state = await use.read()
    t.ok((state.journalBytes ?? 0) >= 200_000)
    t.ok((state.questdbBytes ?? 0) >= (day + 1) * 1_000_000)
    t.equal(state.postgresBytes, 0, 'a folder that is not there')
    t.equal(state.growthBytesPerDay === undefined, day < 3)
    await use.close()
    writeFileSync(join(path, 'questdb', `c${day}`), Buffer.alloc(1_000_000, 1))
    nowMs += dayMs
  }
  t.equal(JSON.parse(readFileSync(join(path, 'disk-samples'), 'utf8')).length, 4)
  t.notOk(readdirSync(path).includes('disk-samples.new'))
  const elsewhere = watchDiskUse({ directory, config: external, retention: never, nowMs: () => nowMs, log: silentLog })
  await elsewhere.measured
  t.match(await elsewhere.read(), { questdbBytes: undefined, postgresBytes: undefined })
  await elsewhere.close()
})
