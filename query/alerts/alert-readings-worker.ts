/** The thread that reads for alerts, over its own connections, some rows at a time. */

import { workerData } from 'piscina'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { createReplicaReads } from '../contexts.ts'
import type { ExportRows } from '../export/export-queries.ts'
import { readRows } from '../export/export-rows.ts'
import { runTask, type Task, type TaskResult, type WorkerSettings } from '../task.ts'
import type { AlertQueries, PackedPiece, WantedDevices } from './alert-queries.ts'

const settings: WorkerSettings = workerData
lowerThreadPriority('below normal')
const readsOf = createReplicaReads(settings)

export function piece(task: Task<AlertQueries['piece']>): Promise<TaskResult<PackedPiece>> {
  return runTask(task, async signal => {
    const asked = { ...task, station: undefined }
    const { rows, nextUs } = await readRows(readsOf(task).reader, asked, task.rowsMax, signal)
    return { ...pack(rows, task.wanted), nextUs }
  })
}

/** Packs the rows of wanted devices, ordered by time and then by device. */
function pack({ timesUs, devices, values, order }: ExportRows, wanted: WantedDevices): Omit<PackedPiece, 'nextUs'> {
  const kept = order.filter(row => wanted[devices[row] as number] === 1)
  const { length } = kept
  const packedDevices = new Int32Array(length)
  const packedTimes = new Float64Array(length)
  const packedValues = new Float64Array(length * values.length)
  for (let at = 0; at < length; at++) {
    const row = kept[at] as number
    packedDevices[at] = devices[row] as number
    packedTimes[at] = timesUs[row] as number
  }
  for (const [index, column] of values.entries()) {
    const start = index * length
    for (let at = 0; at < length; at++) packedValues[start + at] = column[kept[at] as number] as number
  }
  return { devices: bytesOf(packedDevices), times: bytesOf(packedTimes), values: bytesOf(packedValues) }
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
