/** Plans a preview: its devices, and the readings that it needs. */

import { lateSeconds } from '../../analytics/reliability/freshness.ts'
import { createSelection } from '../../auth/devices/selector.ts'
import { bounds } from '../core/bounds.ts'
import { type Condition, metricOf } from '../core/condition.ts'
import type { AlertDevice, AlertDevices } from '../core/devices.ts'
import type { Owner } from '../core/outcome.ts'
import { type AskedReadings, askedColumns } from '../core/readings.ts'
import type { NewRule } from '../core/rule.ts'
import { suspectMetrics, suspectWindowMs } from '../core/suspect-share.ts'
import { unusualHistoryMs } from './hour-feeds.ts'
import type { JobDevice, PreviewJob } from './preview-job.ts'

export interface PlanOptions {
  readonly devices: Pick<AlertDevices, 'all' | 'mayRead' | 'seriesOf' | 'qualityOf'>
  /** Present state of a device on the fleet page. `expectedMs` is NaN for an irregular one. */
  readonly silenceOf: (
    number: number,
  ) => { readonly lastMs: number; readonly lateSeconds: number; readonly expectedMs: number } | undefined
  readonly timeZone: string
  readonly nowMs: () => number
}

export interface AskedPreview {
  readonly rule: NewRule
  readonly fromMs: number
  /** Not later than now. */
  readonly toMs: number
  readonly owner: Owner
}

export interface PreviewPlan {
  readonly devices: readonly AlertDevice[]
  /** Devices that are too many. */
  readonly leftOut: number
  readonly job: PreviewJob
  readonly reads: AskedReadings
}

const [hourMs, dayMs] = [3_600_000, 86_400_000]

export function planPreview(options: PlanOptions, asked: AskedPreview): PreviewPlan {
  const { rule, fromMs, toMs } = asked
  const { condition, for_seconds, keep_firing_seconds } = rule
  const { devices, leftOut } = coveredDevices(options, asked)
  const jobDevices = devices.map(device => jobDevice(options, condition, device))
  const readFromMs = Math.floor((fromMs - leadMs(rule, jobDevices)) / hourMs) * hourMs
  return {
    devices,
    leftOut,
    job: {
      rule: { condition, for_seconds, keep_firing_seconds },
      timeZone: options.timeZone,
      fromMs,
      toMs,
      readFromMs,
      devices: jobDevices,
    },
    reads: { ...columnsOf(options, condition, devices), fromUs: readFromMs * 1000, toUs: toMs * 1000 },
  }
}

/** Numbers of devices that the rule would cover now, among those that its owner may read. Sites are taken completely. */
function coveredDevices(
  { devices }: Pick<PlanOptions, 'devices'>,
  { rule: { selector, condition }, owner }: AskedPreview,
): Pick<PreviewPlan, 'devices' | 'leftOut'> {
  if (selector === null) return { devices: [], leftOut: 0 }
  const isSelected = createSelection(selector)
  const covered = [...devices.all()]
    .filter(device => device.log_switch && isSelected(device) && devices.mayRead(owner.account, device))
    .sort((a, b) => a.number - b.number)
  const devicesMax = condition.kind === 'site_silent' ? covered.length : bounds.previewDevicesMax
  return { devices: covered.slice(0, devicesMax), leftOut: Math.max(0, covered.length - devicesMax) }
}

function jobDevice({ silenceOf, devices }: PlanOptions, condition: Condition, { number }: AlertDevice): JobDevice {
  const isOfQuality = condition.kind === 'suspect'
  const silence = silenceOf(number)
  const afterSeconds = 'after_seconds' in condition ? condition.after_seconds : undefined
  return {
    number,
    afterMs: 1000 * (afterSeconds ?? silence?.lateSeconds ?? lateSeconds('unknown', null, null)),
    expectedMs: silence?.expectedMs ?? Number.NaN,
    lastMs: silence?.lastMs ?? Number.NaN,
    quality: isOfQuality ? devices.qualityOf(number, suspectMetrics(condition)) : undefined,
  }
}

/** How long before the range something may decide how it begins. */
function leadMs({ condition, for_seconds, keep_firing_seconds }: NewRule, devices: readonly JobDevice[]): number {
  const durationsMs = (2 * for_seconds + keep_firing_seconds) * 1000
  switch (condition.kind) {
    case 'silent':
    case 'site_silent':
      return dayMs + durationsMs + devices.reduce((max, { afterMs }) => Math.max(max, afterMs), 0)
    case 'change':
      return hourMs + durationsMs + 1250 * condition.window_seconds
    case 'suspect':
      return dayMs + suspectWindowMs + durationsMs
    case 'unusual':
      return unusualHistoryMs + durationsMs
    default:
      return dayMs + durationsMs
  }
}

function columnsOf(
  { devices: registry }: PlanOptions,
  condition: Condition,
  devices: readonly AlertDevice[],
): Pick<AskedReadings, 'devices' | 'columns'> {
  const metric = metricOf(condition)
  const metrics = condition.kind === 'suspect' ? suspectMetrics(condition) : metric === undefined ? [] : [metric]
  return askedColumns(metrics, devices, registry)
}
