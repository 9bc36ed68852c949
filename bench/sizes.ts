/**
 * Memory, journal, PostgreSQL and QuestDB size per device and reading, as slopes between two sizes, and the state of a
 * large fleet alone. The source of the figures in docs/scaling.md.
 *
 * Usage: node bench/sizes.ts [--only fleet,devices,readings] [--devices 20000,100000] [--fleet 1000000] [--rows
 * 2000000]
 */

import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { readingsTable } from '../store/tables.ts'
import { silentLog, temporaryFolder } from '../test/support/databases.ts'
import { startService } from '../test/support/service.ts'
import { startBench } from './bounds.ts'
import { measureFleetState } from './fleet-memory.ts'
import { residentMegabytes, round, sleep } from './measure.ts'
import { writeJournal } from './rows.ts'
import { addDevices } from './service.ts'
import { type BenchStore, startBenchStore, untilApplied } from './store.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'fleet,devices,readings' },
    devices: { type: 'string', default: '20000,100000' },
    fleet: { type: 'string', default: '1000000' },
    rows: { type: 'string', default: '2000000' },
  },
})
const [small = 0, large = 0] = options.devices.split(',').map(Number)
const rows = Number(options.rows)
const fleetDevices = Number(options.fleet)
const parts = new Set(options.only.split(','))
/** The garbage of the start is collected after this time. */
const settleMs = 15_000
const deviceBytesMax = 3000
/** The figure in docs/fleet.md. */
const fleetStateBytesMax = 1800

const { hooks, bounds, run } = startBench()

interface Sizes {
  memory: number
  postgres: number
}

/** Bytes with this number of devices. */
async function sizesWith(store: BenchStore, dataDirectory: string): Promise<Sizes> {
  const service = await startService(hooks, { dataDirectory, environment: store.environment })
  await sleep(settleMs)
  const memory = residentMegabytes(service.child.pid ?? 0).now * 1e6
  await service.end('SIGTERM')
  const client = new pg.Client({ connectionString: store.environment['DATABASE_URL'] })
  await client.connect()
  const { rows } = await client.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
  )
  await client.end()
  return { memory, postgres: rows[0]?.bytes ?? 0 }
}

/** The size per device: a new one costs the same. */
async function measureDevices(store: BenchStore): Promise<Record<keyof Sizes, number>> {
  const first = await startService(hooks, { environment: store.environment })
  await addDevices(first, small)
  await first.end('SIGTERM')
  const before = await sizesWith(store, first.dataDirectory)
  const again = await startService(hooks, { dataDirectory: first.dataDirectory, environment: store.environment })
  await addDevices(again, large, small)
  await again.end('SIGTERM')
  const after = await sizesWith(store, first.dataDirectory)
  const slope = (of: keyof Sizes) => (after[of] - before[of]) / (large - small)
  return { memory: slope('memory'), postgres: slope('postgres') }
}

/** Bytes per reading with five values: in the journal, or in a topic, and in QuestDB. */
async function measureReadings(store: BenchStore): Promise<{ journal: number; questdb: number }> {
  const dataDirectory = join(temporaryFolder(hooks), 'data')
  const journal = join(dataDirectory, 'journal')
  mkdirSync(journal, { recursive: true })
  writeJournal(journal, { count: rows, deviceCount: small, startUs: Date.UTC(2025, 0, 1) * 1000 })
  const journalBytes = readdirSync(journal).reduce((sum, name) => sum + statSync(join(journal, name)).size, 0)
  const service = await startService(hooks, { dataDirectory, environment: store.environment })
  bounds.must('all rows are stored', (await store.countRows(rows)) === rows)
  await untilApplied(store.questdb)
  const [[bytes] = []] = await store.query(`SELECT sum(diskSize) FROM table_partitions('${readingsTable}')`)
  await service.end('SIGTERM')
  return { journal: journalBytes / rows, questdb: Number(bytes) / rows }
}

const rounded = (figures: object) =>
  Object.fromEntries(Object.entries(figures).map(([of, bytes]) => [of, round(bytes)]))

/** Runs before anything else is in memory. */
function measureState(): object {
  const { columns, objects } = measureFleetState(fleetDevices)
  bounds.atMost('bytes of the state of a device, times its bound', (columns + objects) / fleetStateBytesMax, 1)
  return rounded({ columns, objects })
}

async function measureStored(): Promise<object> {
  const store = await startBenchStore(hooks, silentLog)
  const reading = parts.has('readings') ? { reading: rounded(await measureReadings(store)) } : {}
  if (!parts.has('devices')) return reading
  const device = await measureDevices(store)
  bounds.atMost('bytes of memory for a device, times its bound', device.memory / deviceBytesMax, 1)
  return { device: rounded(device), ...reading }
}

async function bench(): Promise<void> {
  const bytes = {
    ...(parts.has('fleet') ? { fleetState: measureState() } : {}),
    ...(parts.has('devices') || parts.has('readings') ? await measureStored() : {}),
  }
  const asked = { devices: [small, large], fleetDevices, rows }
  bounds.conclude({ bench: 'sizes', ...asked, bytes })
}

await run(bench)
