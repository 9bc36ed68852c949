/**
 * The air-quality API in a separate process, for `bench/air-quality.ts`, with its own PostgreSQL and QuestDB, stations
 * and an API key. Prints all addresses when it listens. Answers each message after it has counted as new points of all
 * stations.
 *
 * Usage: node bench/air-quality-server.ts STATIONS
 */

import type { AddressInfo } from 'node:net'
import { createReplicas } from '../query/replicas.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { basicOf, startAirQuality } from '../test/support/air-quality.ts'
import { startPointsQuestdb } from '../test/support/questdb-points.ts'
import { createHooks } from './measure.ts'

export interface BenchStation {
  readonly sn: string
  /** Numbers of its series. */
  readonly series: Readonly<Record<string, number>>
}

export interface AirQualityServer {
  readonly port: number
  /** The `authorization` header of a request. */
  readonly authorization: string
  readonly stations: readonly BenchStation[]
  readonly questdb: QuestdbAddress
}

const { hooks, closeAll } = createHooks()

async function start(stationCount: number): Promise<AirQualityServer> {
  let revision = 0
  const { address: questdb } = await startPointsQuestdb(hooks)
  const air = await startAirQuality(hooks, 60, {
    replicas: createReplicas([{ address: questdb }]),
    revision: () => revision,
  })
  const authorization = basicOf(await air.keyOf(await air.person('reader@example.com')))
  const stations: BenchStation[] = []
  for (let number = 0; number < stationCount; number++) {
    const { sn, series } = await air.addStation(`S-${number}`, { timezone: 'Asia/Kolkata' })
    stations.push({ sn, series: Object.fromEntries(series) })
  }
  await air.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = air.app.server.address() as AddressInfo
  process.on('message', () => {
    revision++
    process.send?.({ revision })
  })
  return { port, authorization, stations, questdb }
}

async function end(): Promise<void> {
  await closeAll()
  process.exit()
}

// The parent may be killed.
process.once('disconnect', end)
process.once('SIGTERM', end)
process.send?.(await start(Number(process.argv[2])))
