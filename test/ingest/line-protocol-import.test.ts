/** Bodies of line protocol on their way to a real journal: stored as a whole, or not at all. */

import t, { type Test } from 'tap'
import { defaultLineNames } from '../../ingest/formats/line-protocol-names.ts'
import { createLineImporter, type LineImporterOptions } from '../../ingest/import/line-protocol-import.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { offsetOf } from '../../ingest/journal/record.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { openTestIngest } from './open-ingest.ts'

const mebibyte = 1024 ** 2
const timeMs = Date.now() - 3_600_000

function startImporter(t: Test, ingest: LineImporterOptions['ingest'], earliestMs?: () => number) {
  const options = { names: defaultLineNames, ranges: defaultRanges, aheadMsMax: 300_000, bodyBytesMax: 32 * mebibyte }
  const importer = createLineImporter({ ingest, ...options, earliestMs })
  t.teardown(() => importer.close())
  return (lines: string) => {
    const resolve = async (names: readonly string[]) => names.map(name => ({ number: 7, symbol: `${name}-7` }))
    const bytes = Uint8Array.from(Buffer.from(lines))
    return importer.run({ bytes, isGzip: false, precision: 'ms', deviceDefault: undefined, resolve })
  }
}

/** So many readings of a device. */
function linesOf(device: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `w,device=${device} temperature=1 ${timeMs + index}\n`).join('')
}

t.test('of two bodies at a time that have room for one, one is stored and nothing of the other', async t => {
  const ingest = openTestIngest(t, { journalBytesMax: 5 * mebibyte })
  const run = startImporter(t, ingest)
  const count = 45_000
  const [first, second] = await Promise.all([run(linesOf('porch', count)), run(linesOf('attic', count))])
  t.strictSame([first.kind, second.kind].sort(), ['full', 'stored'])
  const { bytes, records } = ingest.status().journal
  t.equal(records, count)
  t.ok(bytes > 2.5 * mebibyte && bytes < 5 * mebibyte, 'one has room, and two have none')
})

t.test('bodies of one moment get times of receipt of their own', async t => {
  const ingest = openTestIngest(t)
  const timesUs: number[] = []
  const append: Ingest['append'] = async records => {
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
    timesUs.push(view.getFloat64(offsetOf.timeUs, true))
    return await ingest.append(records)
  }
  const run = startImporter(t, { ...ingest, append, clockUs: () => Date.UTC(2026, 0, 1) * 1000 })
  for (let body = 0; body < 3; body++) t.match(await run('w,device=porch temperature=1\n'), { kind: 'stored' })
  t.equal(new Set(timesUs).size, 3)
})

t.test('readings that expire between the look at their lines and their records are rejects', async t => {
  const ingest = openTestIngest(t)
  const looks = [timeMs, timeMs + 2]
  const run = startImporter(t, ingest, () => looks.shift() ?? timeMs + 2)
  const outcome = await run(`${linesOf('porch', 3)}w,device=porch temperature=1\n`)
  t.match(outcome, { kind: 'stored', points: 4, readings: 2, rejected: 2 })
  const rejects = outcome.kind === 'stored' ? outcome.rejects : []
  const reason = /^timestamp must not be before .*: older readings have expired$/
  t.match(
    rejects,
    [1, 2].map(line => ({ line, device: 'porch', code: 'READING_INVALID', reason })),
  )
})
