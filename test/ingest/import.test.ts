/** Whole imports: bodies that stop half way, and a full journal. */

import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Format } from '../../ingest/formats/lines.ts'
import { createImporter, type ImporterOptions } from '../../ingest/import/import.ts'
import { areWholeRecords, hasFineTime } from '../../ingest/journal/record.ts'
import type { TestHooks } from '../support/databases.ts'
import { readReading, type StoredReading } from '../support/journal-parts.ts'

const nowMs = Date.UTC(2026, 5, 1)
const header = 'timestamp,device,temperature,humidity,pressure\n'

/** A journal in memory. It keeps its records in the form that the real one reads back. */
function createJournal() {
  const stored: StoredReading[] = []
  return {
    stored,
    append: async (records: Uint8Array) => {
      const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
      if (!areWholeRecords(view, 0, view.byteLength)) throw new Error('these are not whole records')
      for (let offset = 0; offset < view.byteLength; offset += view.getUint16(offset, true)) {
        const reading = readReading(view, offset)
        // The forwarder distinguishes such times from our stamps by their microseconds.
        if (hasFineTime(view, offset) !== (reading.timeUs % 1000 !== 0)) throw new Error('a time is not marked')
        stored.push(reading)
      }
      return 'stored' as const
    },
  }
}

function startImporter(t: TestHooks, options: Pick<ImporterOptions, 'append'> & Partial<ImporterOptions>) {
  const importer = createImporter({ kind: 'readings', now: () => nowMs, ...options })
  t.teardown(() => importer.close())
  return importer
}

const smallChunks = { chunkBytes: 512, lineBytesMax: 200 }

/** The journal of the running test. */
let journalNow: Pick<ImporterOptions, 'append'> = createJournal()
const append: ImporterOptions['append'] = async (...given) => await journalNow.append(...given)
const shared = startImporter(t, { append })
const sharedSmall = startImporter(t, { append, limits: smallChunks })

function into(journal: Pick<ImporterOptions, 'append'>, importer = shared) {
  journalNow = journal
  return importer
}

const unknown = { code: 'DEVICE_UNKNOWN', reason: 'there is no device of this name' } as const
const resolve = async (names: readonly (readonly string[])[]) =>
  names.map(([name = '']) => (name.startsWith('unknown') ? unknown : { number: 7, symbol: `${name}-7` }))

function source(body: string | AsyncIterable<Uint8Array>, format: Format = 'csv') {
  return { body: Readable.from(typeof body === 'string' ? pieces(body) : body), format, resolve }
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100)
}

function lines(count: number, device = 'kitchen', fromMs = Date.UTC(2026, 0, 1)): string {
  const line = (index: number) => `${new Date(fromMs + index * 1000).toISOString()},${device},${index % 80},50,1000\n`
  return Array.from({ length: count }, (_, index) => line(index)).join('')
}

const csvOf = (times: string[]) => header + times.map(time => `${time},kitchen,1,2,1000\n`).join('')
const fields = { device: 'kitchen', temperature: 1, humidity: 2, pressure: 1000 }
const ndjsonOf = (times: string[]) => times.map(timestamp => JSON.stringify({ timestamp, ...fields })).join('\n')
const fineTimes = [
  ['csv', csvOf(['2026-01-01T00:00:00.123456Z', '2026-01-01T01:00:00.5+01:00', '2026-01-01T01:00:00.0000019+01:00'])],
  ['ndjson', ndjsonOf(['2026-01-01T00:00:00.123456Z', '2026-01-01T01:00:00,5+01:00', '2026-01-01T00:00:00.0000019Z'])],
] as const

for (const keepsMicroseconds of [false, true]) {
  t.test(`times ${keepsMicroseconds ? 'keep their microseconds' : 'are cut to the millisecond'}`, async t => {
    const journal = createJournal()
    const importer = startImporter(t, { ...journal, keepsMicroseconds })
    const run = async (body: string, format: Format) => {
      journal.stored.length = 0
      t.match(await importer.run(source(body, format)), { report: { accepted: 3, rejected: 0 } })
      return journal.stored.map(({ timeUs }) => timeUs)
    }
    const startUs = Date.UTC(2026, 0, 1) * 1000
    const expected = (keepsMicroseconds ? [123_456, 500_000, 1] : [123_000, 500_000, 0]).map(us => startUs + us)
    for (const [format, body] of fineTimes) t.strictSame(await run(body, format), expected, format)
    if (!keepsMicroseconds) return
    // One of our own stamps could meet a time that has not passed.
    const times = [nowMs - 1, nowMs, nowMs + 1000].map(ms => new Date(ms).toISOString().replace('Z', '456Z'))
    const aroundNow = (await run(csvOf(times), 'csv')).map(us => us - nowMs * 1000)
    t.strictSame(aroundNow, [-1000 + 456, 0, 1_000_000])
  })
}

t.test('verdicts carry the line of the body, over any number of chunks', async t => {
  const journal = createJournal()
  const importer = into(journal, sharedSmall)
  const last = '2026-01-01T00:00:00Z,kitchen,99'
  const ofUnknown = '2026-01-01T00:00:00Z,unknown-2,99,1,1000'
  const body = `\ufeff${header}${lines(30)}nonsense\n\n${lines(2, 'unknown-1')}${lines(20)}${last},,\n${ofUnknown}\n${last},1,1000`
  const { report } = await importer.run(source(body))
  t.match(report.rejects, [
    { line: 32, code: 'LINE_MALFORMED', device: undefined },
    { line: 34, code: 'DEVICE_UNKNOWN', device: 'unknown-1' },
    { line: 35, code: 'DEVICE_UNKNOWN', device: 'unknown-1' },
    { line: 56, code: 'READING_INVALID', device: 'kitchen' },
    { line: 57, code: 'DEVICE_UNKNOWN', device: 'unknown-2' },
  ])
  t.match(report, { accepted: 51, rejected: 5, rejectsTruncated: false, linesDone: 58 })
  t.match(report.leftOut, { rejected: 1, rejects: [{ line: 58, device: 'kitchen' }], fields: ['temperature'] })
  t.equal(journal.stored.length, 51)
})

t.test('a header again is read as one, over any number of chunks', async t => {
  const journal = createJournal()
  const importer = into(journal, sharedSmall)
  const other = 'timestamp;humidity;temperature;device;pressure\n'
  const time = '2026-01-01T00:00:00Z'
  const otherLines = `${time};48,5;21,5;attic;1013,2\n`.repeat(20)
  const body = `${header}${lines(20)}${header}${lines(1)}nonsense\n${other}${otherLines}unknown;line\n`
  const { report, failure } = await importer.run(source(body))
  t.equal(failure, undefined)
  t.match(report, { accepted: 41, rejected: 2, linesDone: 46 })
  t.match(report.rejects, [{ line: 24 }, { line: 46 }])
  t.match(journal.stored.at(-1)?.reading, { temperature: 21.5, humidity: 48.5, pressure: 1013.2 })
})

t.test('a header again that cannot be read stops the import', async t => {
  const journal = createJournal()
  const importer = into(journal)
  const body = `${header}${lines(3)}timestamp,name,humidity,temperature,pressure\n${lines(3)}`
  const { report, failure } = await importer.run(source(body))
  t.match(failure, { code: 'HEADER_INVALID', reason: /line 5 is a header again, but the header lacks device/ })
  t.match(report, { accepted: 3, linesDone: 4 })
  const again = `${header}${header.repeat(1_001)}`
  t.match(await importer.run(source(again)), { failure: { reason: /more than 1000 headers/ } })
})

t.test('the decimal mark is settled by the first lines, or by the sender', async t => {
  const journal = createJournal()
  const importer = into(journal)
  const semicolons = header.replaceAll(',', ';')
  const line = (temperature: string) => `2026-01-01T00:00:00Z;kitchen;${temperature};40;1013\n`
  const open = semicolons + line('12,345') + line('21')
  t.match(await importer.run(source(open)), {
    report: { accepted: 0 },
    failure: { code: 'CONTENT_UNKNOWN', reason: /12,345 in line 2 has three decimals .* \?decimal=comma/ },
  })
  t.match(await importer.run(source(`${open}${line('21.5')}${line('21,5')}`)), { failure: { code: 'CONTENT_UNKNOWN' } })
  t.equal(journal.stored.length, 0)
  t.match(await importer.run({ ...source(open), decimal: 'comma' }), { report: { accepted: 2 } })
  t.equal(journal.stored[0]?.reading.temperature, 12.345)
  t.match(await importer.run(source(open + line('21.5'))), {
    report: { accepted: 3, leftOut: { rejected: 1, rejects: [{ line: 2, reason: /^temperature must be between/ }] } },
  })
  const broken = `${semicolons}nonsense\n${line('21;5')}\n${line('21,5')}`
  t.match(await importer.run(source(broken)), { report: { accepted: 1, rejected: 2 } }, 'a broken line decides nothing')
})

t.test('the list of rejects is bounded and says so', async t => {
  const importer = startImporter(t, { ...createJournal(), limits: { ...smallChunks, rejectsMax: 10 } })
  const { report } = await importer.run(source(header + 'bad\n'.repeat(500)))
  t.match(report, { rejected: 500, rejectsTruncated: true })
  t.equal(report.rejects.map(reject => reject.line).join(), '2,3,4,5,6,7,8,9,10,11')
})

t.test('an empty body holds nothing', async t => {
  const importer = into(createJournal())
  t.match(await importer.run(source('', 'ndjson')), { report: { accepted: 0, rejected: 0, linesDone: 0 } })
  t.match(await importer.run(source('')), { failure: { code: 'CONTENT_UNKNOWN' } })
})

t.test('a full journal stops the import, which says how far it came', async t => {
  const journal = createJournal()
  let room = 2
  const append = async (records: Uint8Array) => (room-- > 0 ? await journal.append(records) : ('full' as const))
  const importer = into({ append }, sharedSmall)
  const { report, failure } = await importer.run(source(header + lines(100)))
  t.match(failure, { code: 'STORAGE_FULL' })
  t.equal(report.accepted, journal.stored.length)
  t.equal(report.linesDone, journal.stored.length + 1)
  t.ok(journal.stored.length > 0 && journal.stored.length < 100)
})

t.test('a body is read no further while the journal is busy', async t => {
  const journal = createJournal()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const append = async (records: Uint8Array) => {
    await held
    return await journal.append(records)
  }
  const importer = into({ append }, sharedSmall)
  let bytesRead = 0
  async function* counted() {
    for await (const piece of pieces(header + lines(1000))) {
      bytesRead += piece.length
      yield piece
    }
  }
  const running = importer.run(source(counted()))
  for (let before = -1; before < bytesRead || bytesRead === 0; await untilQuiet()) before = bytesRead
  t.ok(bytesRead <= 3 * smallChunks.chunkBytes, `${bytesRead} bytes`)
  release()
  t.match(await running, { report: { accepted: 1000 } })
})

/** Long enough for a chunk to go to the thread and back. */
async function untilQuiet(): Promise<void> {
  const until = performance.now() + 200
  while (performance.now() < until) await turn()
}

t.test('more imports at a time than the limit are refused, not queued', async t => {
  const importer = startImporter(t, { ...createJournal(), limits: { sessionsMax: 1 } })
  const [first, second] = await Promise.all([importer.run(source(header + lines(3))), importer.run(source(header))])
  t.equal(first.report.accepted, 3)
  t.match(second, { failure: { code: 'TOO_BUSY' } })
  t.match(await importer.run(source(header + lines(1))), { failure: undefined, report: { accepted: 1 } })
})

t.test('the first imports at a time have large chunks', async t => {
  const limits = { ...smallChunks, largeChunkBytes: 64 * 1024, sessionsMax: 5 }
  let appends = 0
  const append = async () => {
    appends++
    return 'stored' as const
  }
  const importer = startImporter(t, { append, limits })
  const body = header + lines(100)
  t.match(await importer.run(source(body)), { report: { accepted: 100 } })
  t.equal(appends, 1)
  const unending = () => ({ ...source(''), body: new Readable({ read: () => undefined }) })
  const running = Array.from({ length: 4 }, () => importer.run(unending()))
  t.match(await importer.run(source(body)), { report: { accepted: 100 } })
  t.ok(appends > 6, `${appends} chunks`)
  await importer.close()
  await Promise.all(running)
})

t.test('the thread of an import gives way to those that must answer at once', async t => {
  const threads = () => readdirSync('/proc/self/task').map(Number)
  const before = threads()
  const importer = startImporter(t, createJournal())
  t.match(await importer.run(source(header + lines(10))), { report: { accepted: 10 } })
  const added = threads().filter(thread => !before.includes(thread))
  t.ok(added.map(getPriority).includes(constants.priority.PRIORITY_BELOW_NORMAL))
})

t.test('a close cuts off a body that is never ended and keeps its result', async t => {
  const journal = createJournal()
  const importer = startImporter(t, { ...journal, limits: smallChunks })
  // A stalled generator could not be cut off, unlike a stream of a socket.
  const stalled = new Readable({ read: () => undefined })
  for await (const piece of pieces(header + lines(100))) stalled.push(piece)
  const running = importer.run({ ...source(''), body: stalled })
  while (journal.stored.length < 50) await turn()
  await importer.close()
  const { report, failure } = await running
  t.match(failure, { code: 'CLOSING' })
  t.equal(report.accepted, journal.stored.length)
  await importer.close()
  t.match(await importer.run(source(header)), { failure: { code: 'CLOSING' } }, 'and whatever comes later')
})
