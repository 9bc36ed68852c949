/** The baseline of the analyses: one statement that fetches the same readings as CSV. */

import { median } from 'simple-statistics'
import { readingsTable } from '../store/tables.ts'
import type { MadeSeries } from './made-series.ts'
import type { BenchStore } from './store.ts'

const samplesMax = 5

/** Milliseconds, as the median of some devices. Each is queried twice, since the first query reads the rows from disk. */
export async function plainSqlMs(
  { questdb }: BenchStore,
  devices: readonly MadeSeries[],
  days: number,
): Promise<number> {
  const { host, port, authorization = '' } = questdb.http
  const ms: number[] = []
  for (const { device, endMs } of devices.slice(0, samplesMax)) {
    const from = new Date(endMs - days * 86_400_000).toISOString()
    const sql = `SELECT * FROM ${readingsTable} WHERE device = '${device.symbol}' AND ts >= '${from}'`
    const url = `http://${host}:${port}/exp?query=${encodeURIComponent(sql)}`
    for (let turn = 0; turn < 2; turn++) {
      const startedMs = performance.now()
      const response = await fetch(url, { headers: { authorization } })
      await response.arrayBuffer()
      if (!response.ok) throw new Error(`QuestDB answered ${response.status}`)
      if (turn === 1) ms.push(performance.now() - startedMs)
    }
  }
  return median(ms)
}
