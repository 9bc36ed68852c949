/** Bytes of memory that the state of a fleet takes for a device, beside the registry's. Every device has sent readings. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { LiveDevice } from '../query/live/device-state.ts'
import type { StoredReadings } from '../query/live/latest-values.ts'
import { LiveFleet } from '../query/live/live-fleet.ts'

const rounds = 3
const intervalUs = 60_000_000
/** Temperature, humidity and pressure. */
const valueCount = 3

export function measureFleetState(deviceCount: number): { columns: number; objects: number } {
  const devices = Array.from({ length: deviceCount }, (_, index) => deviceOf(index))
  const before = heldBytes()
  const fleet = new LiveFleet({ nowMs: Date.now, wants: () => undefined, failed: throwIt })
  fleet.fill(devices)
  const nowUs = Date.now() * 1000
  for (let round = rounds; round > 0; round--) fleet.take(readingsOf(deviceCount, nowUs - round * intervalUs))
  const after = heldBytes()
  if (Object.values(fleet.order.counts).reduce((sum, count) => sum + count, 0) !== deviceCount)
    throw new Error('devices are missing')
  return {
    columns: (after.arrayBuffers - before.arrayBuffers) / deviceCount,
    objects: (after.heapUsed - before.heapUsed) / deviceCount,
  }
}

function deviceOf(index: number): LiveDevice {
  // Sorted by name, like the registry.
  const name = `sensor-${String(index).padStart(7, '0')}`
  const settings = { log_switch: true, expected_interval_seconds: null, latitude: null, longitude: null, tags: [] }
  return { number: index + 1, symbol: `${name}-${index + 1}`, name, location_short: 'Storeroom', ...settings }
}

function readingsOf(deviceCount: number, timeUs: number): StoredReadings {
  let series = 0
  return {
    next: () => ++series <= deviceCount,
    get series() {
      return series
    },
    timeUs,
    value: column => (column < valueCount ? 20 + column : Number.NaN),
    customCount: 0,
    customSeries: () => 0,
    customValue: () => 0,
  }
}

function heldBytes(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as NonNullable<typeof globalThis.gc>
  // The first collection frees the holders of the second one's buffers.
  gc()
  gc()
  return process.memoryUsage()
}

function throwIt(error: unknown): never {
  throw error
}
