/** `GET /api/readings/<device>`: streams the readings of a range, or their figures by buckets of time. */

import type { FastifyReply } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import type { DeviceMetrics } from '../../auth/metrics/device-metrics.ts'
import type { OperationGroup } from '../http/route-family.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import { chooseMetrics } from './range-metrics.ts'
import { createRangeSender, type RangeRequest, type RangeSenderOptions, type SendRange } from './range-sender.ts'
import type { ReadAccess } from './read-access.ts'
import { DevicePath, ofReads, readGroup, readOperation } from './read-operation.ts'
import { deviceInPath } from './read-subjects.ts'
import { RangeParameters } from './readings-parameters.ts'
import { RangeReadings } from './shapes.ts'

export interface ReadingsOptions extends RangeSenderOptions {
  metrics: DeviceMetrics
  /** Readings before this time have expired. */
  expiredBeforeUs: () => number
  /** Names of archived files with rows of the range, up to a limit; undefined without an archive. */
  archivedFiles?: ((fromUs: number, toUs: number, filesMax: number) => Promise<readonly string[]>) | undefined
}

/** A header of some 4 kB. */
const archivedFilesMax = 60

export const rangeSuccess = {
  status: 200,
  description: 'The readings, or their figures by buckets',
  json: RangeReadings,
  text: ['application/x-ndjson', 'text/csv'],
  bytes: ['application/vnd.apache.parquet'],
}

/** `sendRange` shares its slots with reads of stations. */
export function readingsGroup(
  access: ReadAccess,
  options: ReadingsOptions,
  sendRange: SendRange = createRangeSender(access, options),
): OperationGroup<ReadOperation> {
  const { metrics, expiredBeforeUs, archivedFiles } = options

  /** Names archived files of raw readings that the answer lacks. */
  async function archiveHeaders(fromUs: number, toUs: number): Promise<Readonly<Record<string, string>>> {
    if (archivedFiles === undefined || fromUs >= toUs) return {}
    // The answer does not depend on the archive.
    const files = await archivedFiles(fromUs, toUs, archivedFilesMax).catch(() => [])
    return files.length === 0 ? {} : { 'archive-files': files.join(', ') }
  }

  function send(device: Device, request: RangeRequest, reply: FastifyReply): Promise<FastifyReply> {
    return sendRange(request, reply, async ({ fromUs, toUs }) => {
      const found = chooseMetrics(request.query['metrics'], device, metrics)
      if (!found.ok) return { ok: false, code: 'PARAMETER_INVALID', text: found.status }
      const from = Math.min(Math.max(fromUs, expiredBeforeUs()), toUs)
      const headers = await archiveHeaders(fromUs, from)
      return { ok: true, content: { fromUs: from, toUs, devices: [device], ...found.chosen, headers } }
    })
  }

  const read = readOperation(access, {
    path: '/readings/:device',
    name: 'read_range',
    summary: 'The readings of a range',
    description: 'Streamed, oldest first. An error in the middle breaks the connection.',
    subject: deviceInPath('device'),
    parameters: { path: DevicePath, query: RangeParameters },
    success: rangeSuccess,
    refusals: [...ofReads, 'DEVICE_UNKNOWN', 'HTTP_VERSION'],
    handle: send,
  })
  return readGroup(read)
}
