/** Devices with a made past in the service's QuestDB, and questions about them. */

import type { DeviceRef } from '../ingest/record.ts'
import type { Service } from '../test/support/service.ts'
import type { MadeSeries } from './made-series.ts'
import { sleep } from './measure.ts'
import { seed } from './seed.ts'
import { deviceName } from './service.ts'
import type { BenchStore } from './store.ts'

export interface MadeDevice extends MadeSeries {
  /** Its name as a step of a path. */
  readonly path: string
}

/** So many devices with so many days behind them. */
export interface MadeKind {
  readonly count: number
  readonly days: number
  readonly stepMs: number
}

const minuteMs = 60_000

/** Gives a past to the first devices of the service, kind by kind, and waits until all of it can be asked for. */
export async function seedFleet(
  service: Service,
  store: BenchStore,
  kinds: readonly MadeKind[],
): Promise<MadeDevice[][]> {
  const endMs = Math.floor(Date.now() / minuteMs) * minuteMs
  let index = 0
  const fleet: MadeDevice[][] = []
  for (const { count, days, stepMs } of kinds) {
    const devices: MadeDevice[] = []
    for (let made = 0; made < count; made++) {
      const path = encodeURIComponent(deviceName(index++))
      const { body } = await service.admin('GET', `/devices/${path}`)
      devices.push({ device: body as DeviceRef, path, days, stepMs, endMs })
    }
    fleet.push(devices)
  }
  await seed(store.questdb, fleet.flat())
  await untilViewsFollow(store)
  return fleet
}

/** The view of the hours is refreshed behind the table. */
async function untilViewsFollow({ query }: BenchStore): Promise<void> {
  const sql = 'SELECT count() FROM materialized_views() WHERE refresh_base_table_txn != base_table_txn'
  while (Number((await query(sql))[0]?.[0]) > 0) await sleep(100)
}

export interface Asked {
  readonly ms: number
  readonly text: string
}

/** Asks for an uncompressed answer and reads all of it. */
export async function ask(service: Service, path: string): Promise<Asked> {
  const startedMs = performance.now()
  const response = await fetch(`${service.url}/api/${path}`, { headers: { 'accept-encoding': 'identity' } })
  const text = await response.text()
  const ms = performance.now() - startedMs
  if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}: ${text}`)
  return { ms, text }
}
