/** Asks a worker for rows of the fleet. */

import { unpackRows } from './answers/fleet-rows.ts'
import type { AvailabilityLog } from './availability-log.ts'
import type { Pool } from './pool.ts'
import { namedShard, shardIn } from './query-failed.ts'
import type { AnsweringShards, NeededShards } from './shards/answering-shards.ts'
import type { ReadsPlan } from './shards/device-reads.ts'
import { runOnShards } from './shards/run-on-shards.ts'
import type { FleetDevicesQuery, FleetQueries, LightQueries, PlacedFleetQueries } from './task.ts'

type FleetRows =
  | { readonly ok: true; readonly rows: Float64Array }
  | { readonly ok: false; readonly code: string; readonly shard?: number }

export type AskFleetRows = <Name extends keyof FleetQueries>(
  name: Name,
  query: FleetQueries[Name],
  signal: AbortSignal,
) => Promise<FleetRows>

interface FleetRowsOptions {
  readonly pool: Pool<LightQueries>
  readonly plan: ReadsPlan
  readonly logAvailability: AvailabilityLog
  readonly answering: AnsweringShards
}

export function createFleetRows({ pool, plan, logAvailability, answering }: FleetRowsOptions): AskFleetRows {
  return async (name, query, signal) => {
    const { placed, needed } = placedQuery(query, plan)
    const result = await runOnShards({ pool, answering }, name, placed as LightQueries[typeof name], needed, signal)
    logAvailability(result, needed)
    if (!result.ok) return { ok: false, code: result.code, ...namedShard(shardIn(result)) }
    if (!('bytes' in result.encoded)) throw new Error('rows of the fleet are packed')
    return { ok: true, rows: unpackRows(result.encoded.bytes) }
  }
}

interface Placed {
  readonly placed: PlacedFleetQueries[keyof PlacedFleetQueries]
  readonly needed: NeededShards
}

function placedQuery(query: FleetQueries[keyof FleetQueries], plan: ReadsPlan): Placed {
  if ('devices' in query) return placedDevices(query, plan)
  const toUs = 'toUs' in query ? query.toUs : query.fromUs + hourUs
  const of = 'device' in query && query.device !== undefined ? [{ number: query.device }] : undefined
  const needed = plan.ofMany(of, query.fromUs, toUs)
  return { placed: { ...query, shards: needed.shards }, needed }
}

const hourUs = 3_600_000_000

function placedDevices({ devices, ...query }: FleetDevicesQuery, plan: ReadsPlan): Placed {
  const plans = devices.map(device => ({ device, ...plan.ofDevice(device.number) }))
  const placed = plans.map(({ device, places, hourSources }) => ({ ...device, places, hourSources }))
  const shards = [...new Set(plans.flatMap(({ needed }) => needed.shards))]
  const behind = [...new Set(plans.flatMap(({ needed }) => needed.behind ?? []))]
  return {
    placed: { ...query, devices: placed },
    needed: { shards, behind, isEachRead: plans.every(({ needed }) => needed.isEachRead) },
  }
}
