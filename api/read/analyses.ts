/** Declares the analyses of devices: comparisons, details, statistics, days and similar days. */

import type { RejectedReadings } from '../../analytics/findings/from-quality.ts'
import type { Device } from '../../auth/devices/device.ts'
import { CompareParameters } from '../../query/analyses/compare.ts'
import { msOf } from '../../query/analyses/parameters.ts'
import type { Query } from '../../query/query.ts'
import { airMetrics } from '../../query/series.ts'
import { Comparison } from '../../query/shapes/compare.ts'
import type { OperationGroup } from '../http/route-family.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import { type AnalysesQuery, analysesOfOne, analysisOf } from './analysis-operations.ts'
import { type AnalysedMetrics, absentMetric, comparedMetrics, customMetrics } from './custom-metrics.ts'
import type { ReadAccess } from './read-access.ts'
import { DevicePath, readGroup } from './read-operation.ts'
import { deviceInPath, devicesInQuery } from './read-subjects.ts'

export interface AnalysesOptions {
  metrics: AnalysedMetrics
  query: AnalysesQuery & Pick<Query, 'compare'>
  /** Refused readings that were sent with the device's own credential. */
  rejectedOf?: (device: Device) => RejectedReadings | undefined
}

export function analysesGroup(
  access: ReadAccess,
  { metrics, query, rejectedOf }: AnalysesOptions,
): OperationGroup<ReadOperation> {
  const ofDevices = { pathShape: DevicePath, ignoresUnknown: true, unknown: 'DEVICE_UNKNOWN' } as const
  const ofTwo = analysisOf(access, query, {
    ...ofDevices,
    subject: devicesInQuery('a', 'b'),
    absent: (devices, names) => absentMetric(metrics, devices, names),
  })
  const ofOne = analysesOfOne<Device>(access, query, {
    ...ofDevices,
    subject: deviceInPath('device'),
    pathOf: analysis => `/${analysis}/:device`,
    nameOf: title => `read_${title}`,
    noun: 'device',
    device: device => device,
    rejected: device => rejectedOf?.(device),
    absent: (device, names) => absentMetric(metrics, [device], names),
    custom: (device, always, names) => customMetrics(metrics, device, always, names),
  })
  return readGroup(
    ofTwo({
      path: '/compare_data',
      name: 'compare_devices',
      summary: 'Two devices, hour by hour',
      query: CompareParameters,
      answer: Comparison.meta({ id: 'Comparison' }),
      ask([a, b], { preset = '7d', start, end, t, metrics: names }, client) {
        const custom = comparedMetrics(metrics, [a as Device, b as Device], airMetrics, names)
        const how = { preset, startMs: msOf(start), endMs: msOf(end), withTimes: t, custom }
        return query.compare(a as Device, b as Device, how, client)
      },
    }),
    ...ofOne,
  )
}
