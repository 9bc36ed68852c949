/** Exports of two shards against the same exports of one QuestDB with the same rows, byte for byte. */

import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { builtInMetrics } from '../../query/export/export-columns.ts'
import type { Layout } from '../../query/export/export-queries.ts'
import { createReadingsExport, type ExportRequest, type ReadingsExport } from '../../query/export/readings-export.ts'
import { seriesTable } from '../../query/export/series-table.ts'
import { stays } from '../query/query-at.ts'
import { silentLog } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import {
  devices,
  exportMetrics,
  names,
  nowMs,
  placement,
  seriesEntries,
  startMadeShards,
  startMs,
  throughGate,
} from './made-shards.ts'

const { whole, shards } = await startMadeShards(t)
const one = { shards: [whole.address] }
const two = { shards: shards.map(({ address }) => address), placement: () => placement }
const unhurried = { timeoutMs: 600_000, connectTimeoutMs: 600_000 }

type Options = typeof one & Partial<typeof two>

/** By the size of their pieces: each has a thread. */
function createExporters(options: Options): (pieceRows: number) => ReadingsExport {
  const made = new Map<number, ReadingsExport>()
  t.teardown(() => Promise.all([...made.values()].map(exporter => exporter.close())))
  return pieceRows => {
    const limits = { ...unhurried, pieceRows }
    const exporter = made.get(pieceRows) ?? createReadingsExport({ ...options, log: silentLog, limits })
    made.set(pieceRows, exporter)
    return exporter
  }
}

const [exporterOfOne, exporterOfTwo] = [createExporters(one), createExporters(two)]

async function exported(readingsExport: ReadingsExport, asked: ExportRequest): Promise<Buffer> {
  const answer = await readingsExport.pieces(asked, stays())
  if (!answer.ok) throw new Error(answer.code)
  return await buffer(answer.pieces as AsyncIterable<never>)
}

async function equal(t: Test, asked: ExportRequest, pieceRows: number, what: string): Promise<void> {
  const [expected, found] = [
    await exported(exporterOfOne(pieceRows), asked),
    await exported(exporterOfTwo(pieceRows), asked),
  ]
  t.ok(expected.length > 200, `${what}: ${expected.length} bytes`)
  if (!found.equals(expected)) t.equal(found.toString('latin1'), expected.toString('latin1'), what)
}

const all = names.map(name => devices[name])
const range = { fromUs: startMs * 1000, toUs: nowMs * 1000 + 1 }
const further = {
  metrics: [...builtInMetrics, ...exportMetrics],
  series: seriesTable(names.flatMap(name => seriesEntries(name, builtInMetrics.length))),
}

t.test('exports of all devices are in one order, whatever the size of a piece', async t => {
  for (const layout of ['csv', 'ndjson', 'parquet', 'rfc4180', 'lines', 'array'] satisfies Layout[]) {
    await equal(t, { layout, ...range, devices: all, isNarrowed: false }, 60_000, layout)
    await equal(t, { layout, ...range, devices: all, isNarrowed: false, ...further }, 700, `${layout}, further metrics`)
  }
  const aroundMidnight = { ...range, fromUs: Date.UTC(2026, 4, 19, 22) * 1000, toUs: Date.UTC(2026, 4, 20, 2) * 1000 }
  for (const pieceRows of [1, 2, 7]) {
    await equal(
      t,
      { layout: 'csv', ...aroundMidnight, devices: all, isNarrowed: false },
      pieceRows,
      `pieces of ${pieceRows}`,
    )
  }
})

t.test('exports of one device and of some', async t => {
  for (const name of names) {
    const asked = { ...range, devices: [devices[name]], isNarrowed: true, ...further }
    await equal(t, { layout: 'csv', ...asked }, 100, name)
    await equal(t, { layout: 'parquet', ...asked }, 60_000, name)
  }
  const some = { ...range, devices: [devices.moved, devices.second, devices.back], isNarrowed: true }
  await equal(t, { layout: 'csv', ...some, ...further }, 100, 'some')
})

t.test('figures by buckets, also of those in which a device moved', async t => {
  const hour = 3_600_000_000
  for (const name of names) {
    const series = seriesTable(seriesEntries(name, builtInMetrics.length))
    const asked = { ...range, devices: [devices[name]], isNarrowed: true, ...further, series }
    for (const hours of [1, 7, 24]) {
      const stepUs = hours * hour
      await equal(t, { layout: 'csv', ...asked, stepUs }, 60_000, `${name} by ${hours} hours`)
      const later = { ...asked, fromUs: Date.UTC(2026, 4, 11, 22, 40) * 1000, stepUs }
      await equal(t, { layout: 'csv', ...later }, 11, `${name} by ${hours} hours, in pieces`)
    }
  }
})

t.test('an export of a shard that is away', async t => {
  const gate = await openGate(t, shards[1].address.pg)
  const addresses = [shards[0].address, throughGate({ ...shards[1].address, pg: gate.address })]
  const readingsExport = createReadingsExport({ ...two, shards: addresses, log: silentLog, limits: unhurried })
  t.teardown(() => readingsExport.close())
  await gate.shut()
  const asked = { layout: 'csv', ...range, isNarrowed: true } as const
  const away = { ok: false, code: 'DATABASE_AWAY', shard: 2 }
  t.match(await readingsExport.pieces({ ...asked, devices: [devices.second] }, stays()), away)
  t.match(await readingsExport.pieces({ ...asked, devices: all, isNarrowed: false }, stays()), away)
  const ofFirst = await readingsExport.pieces({ ...asked, devices: [devices.first] }, stays())
  if (!ofFirst.ok) throw new Error(ofFirst.code)
  t.ok((await buffer(ofFirst.pieces as AsyncIterable<never>)).length > 1000)
})
