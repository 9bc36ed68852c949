/** `GET /api/readings/<device>`: the readings of a range, or their figures by buckets of time, streamed. */

import type { FastifyReply } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import type { DeviceMetrics } from '../../auth/metrics/device-metrics.ts'
import type { OperationGroup } from '../http/register-operations.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import { chooseMetrics } from './metrics-parameter.ts'
import { createRangeSender, type RangeRequest, type RangeSenderOptions, type SendRange } from './range-sender.ts'
import type { ReadAccess } from './read-access.ts'
import { DevicePath, ofReads, readGroup, readOperation } from './read-operation.ts'
import { deviceInPath } from './read-subjects.ts'
import { RangeParameters } from './readings-parameters.ts'
import { RangeReadings } from './readings-shape.ts'

export interface ReadingsOptions extends RangeSenderOptions {
  metrics: DeviceMetrics
  /** Readings before this moment have expired. */
  expiredBeforeUs: () => number
}

export const rangeSuccess = {
  status: 200,
  description: 'The readings, or their figures by buckets',
  json: RangeReadings,
  text: ['application/x-ndjson', 'text/csv'],
  bytes: ['application/vnd.apache.parquet'],
}

/** `sendRange`: with slots that it shares with reads of stations. */
export function readingsGroup(
  access: ReadAccess,
  options: ReadingsOptions,
  sendRange: SendRange = createRangeSender(access, options),
): OperationGroup<ReadOperation> {
  const { metrics, expiredBeforeUs } = options

  function send(device: Device, request: RangeRequest, reply: FastifyReply): Promise<FastifyReply> {
    return sendRange(request, reply, ({ fromUs, toUs }) => {
      const found = chooseMetrics(request.query['metrics'], device, metrics)
      if (!found.ok) return { ok: false, code: 'PARAMETER_INVALID', text: found.status }
      const from = Math.min(Math.max(fromUs, expiredBeforeUs()), toUs)
      return { ok: true, content: { fromUs: from, toUs, devices: [device], ...found.chosen } }
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
