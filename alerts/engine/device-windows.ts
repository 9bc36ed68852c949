/** Stored readings of some devices, each by itself: columns over its rows. */

import { setImmediate as turn } from 'node:timers/promises'
import type { AlertReadings } from '../core/readings.ts'
import type { SuspectWindow } from '../core/suspect-share.ts'

/** By the number of the device; undefined where there are more rows than that. Rejects when QuestDB is away. */
export async function readWindows(
  pieces: AsyncIterable<AlertReadings>,
  rowsMax: number,
): Promise<ReadonlyMap<number, SuspectWindow> | undefined> {
  const read: AlertReadings[] = []
  let rows = 0
  for await (const piece of pieces) {
    rows += piece.length
    if (rows > rowsMax) return undefined
    read.push(piece)
  }
  return await windowsOf(read)
}

interface Filled {
  readonly timesMs: Float64Array
  readonly values: readonly Float64Array[]
  length: number
}

async function windowsOf(pieces: readonly AlertReadings[]): Promise<Map<number, SuspectWindow>> {
  const columns = pieces[0]?.values.length ?? 0
  const windows = new Map<number, Filled>()
  for (const [device, length] of countRows(pieces)) {
    const values = Array.from({ length: columns }, () => new Float64Array(length))
    windows.set(device, { timesMs: new Float64Array(length), values, length: 0 })
  }
  for (const piece of pieces) {
    await turn()
    for (let row = 0; row < piece.length; row++) {
      const window = windows.get(piece.device[row] as number) as Filled
      const at = window.length++
      window.timesMs[at] = (piece.timesUs[row] as number) / 1000
      for (let column = 0; column < columns; column++) {
        ;(window.values[column] as Float64Array)[at] = piece.values[column]?.[row] as number
      }
    }
  }
  return windows
}

function countRows(pieces: readonly AlertReadings[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { device, length } of pieces) {
    for (let row = 0; row < length; row++) {
      const number = device[row] as number
      counts.set(number, (counts.get(number) ?? 0) + 1)
    }
  }
  return counts
}
