/**
 * Memory and start of the service with many metrics of many devices: its series are held in memory. The same service is started
 * without and with them.
 *
 * Usage: node bench/metric-series.ts [--devices 100000] [--metrics 10000] [--each 10]
 */

import { parseArgs } from 'node:util'
import pg from 'pg'
import { silentLog } from '../test/support/databases.ts'
import { startService } from '../test/support/service.ts'
import { startBench } from './bounds.ts'
import { residentMegabytes, round, sleep } from './measure.ts'
import { addDevices } from './service.ts'
import { startBenchStore } from './store.ts'

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    metrics: { type: 'string', default: '10000' },
    each: { type: 'string', default: '10' },
  },
})
const devices = Number(options.devices)
const metrics = Number(options.metrics)
const each = Number(options.each)
const bytesPerSeriesMax = 100
/** The garbage of the start is collected after this time. */
const settleMs = 20_000

const { hooks, bounds, run } = startBench()

/** Adds as many metrics as fit beside the built-in ones. Each device has some of them, spread over all. */
async function addSeries(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    `INSERT INTO metrics (name, title, kind, decimals, position)
     SELECT 'bench_' || n, 'Bench ' || n, 'gauge', 1, 1000
     FROM generate_series(1, $1 - (SELECT count(*)::int FROM metrics)) AS n`,
    [metrics],
  )
  const { rowCount } = await client.query(
    `INSERT INTO metric_series (device, metric)
     SELECT devices.number, ids[(devices.number * $1::int + place) % cardinality(ids) + 1]
     FROM (SELECT array_agg(id ORDER BY id) AS ids FROM metrics WHERE name LIKE 'bench_%') AS named
     CROSS JOIN devices CROSS JOIN generate_series(1, $1::int) AS place`,
    [each],
  )
  await client.end()
  return rowCount ?? 0
}

async function bench(): Promise<void> {
  const { environment } = await startBenchStore(hooks, silentLog)
  const first = await startService(hooks, { environment })
  await addDevices(first, devices)
  await first.end('SIGTERM')
  const { dataDirectory } = first

  async function idle(): Promise<{ megabytes: number; startSeconds: number }> {
    const startedMs = performance.now()
    const service = await startService(hooks, { dataDirectory, environment })
    const startSeconds = round((performance.now() - startedMs) / 1000)
    await sleep(settleMs)
    const megabytes = residentMegabytes(service.child.pid ?? 0).now
    await service.end('SIGTERM')
    return { megabytes, startSeconds }
  }

  const without = await idle()
  const series = await addSeries(environment['DATABASE_URL'] ?? '')
  const withSeries = await idle()
  const bytesPerSeries = ((withSeries.megabytes - without.megabytes) * 1e6) / series
  bounds.must('each device has its series', series === devices * each)
  bounds.atMost('bytes for a series', bytesPerSeries, bytesPerSeriesMax, { without, withSeries })
  bounds.conclude({ bench: 'metric-series', devices, metrics, series })
}

await run(bench)
