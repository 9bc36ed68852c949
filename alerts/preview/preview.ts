/** Entry point of this folder: how a rule would have behaved on the stored readings. */

import { lateSeconds } from '../../analytics/reliability/freshness.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { createSelection } from '../../auth/devices/selector.ts'
import type { AskedReadings } from '../../query/alerts/alert-queries.ts'
import { bounds } from '../core/bounds.ts'
import { type Condition, metricOf } from '../core/condition.ts'
import { type AlertDevice, type AlertDevices, askedColumns, type ReadAlertReadings } from '../core/devices.ts'
import type { Owner } from '../core/outcome.ts'
import type { PreviewAnswer } from '../core/preview-answer.ts'
import type { NewRule } from '../core/rule.ts'
import { suspectMetrics, suspectWindowMs } from '../core/suspect-share.ts'
import { unusualHistoryMs } from './hour-feeds.ts'
import type { JobDevice, PreviewJob, PreviewResult } from './preview-job.ts'
import { isPreviewed, weeksBetween } from './preview-run.ts'
import { createPreviewThread, type PreviewSession } from './preview-thread.ts'

interface PreviewOptions extends PlanOptions {
  readonly readings: ReadAlertReadings
  readonly limits?: Partial<PreviewLimits>
}

export interface PreviewLimits {
  /** Both limits apply to concurrent previews: of each person, and of all. */
  readonly previewsEachMax: number
  readonly previewsMax: number
  readonly readingsMax: number
  readonly timeMsMax: number
}

type PreviewOutcome =
  | { readonly ok: true; readonly value: PreviewAnswer }
  | { readonly ok: false; readonly code: 'PREVIEW_BUSY' }
  /** `days` of the range would have been few enough. */
  | { readonly ok: false; readonly code: 'PREVIEW_TOO_LARGE'; readonly days: number }

export interface Preview {
  /** Throws the error of the read, or the reason of the signal. */
  run(asked: AskedPreview, signal: AbortSignal): Promise<PreviewOutcome>
  close(): Promise<void>
}

const limitsUsual: PreviewLimits = { previewsEachMax: 2, previewsMax: 6, readingsMax: 20_000_000, timeMsMax: 30_000 }
const [hourMs, dayMs] = [3_600_000, 86_400_000]

export function createPreview(options: PreviewOptions): Preview {
  const limits = { ...limitsUsual, ...options.limits }
  const thread = createPreviewThread()
  /** Keys are accounts; null is the service. */
  const running = new Map<number | null, number>()
  let previews = 0

  /** Returns false when this person has reached the limit. */
  function begin(account: number | null): boolean {
    const own = running.get(account) ?? 0
    if (previews >= limits.previewsMax || own >= limits.previewsEachMax) return false
    running.set(account, own + 1)
    previews++
    return true
  }

  function end(account: number | null): void {
    const own = (running.get(account) ?? 1) - 1
    if (own === 0) running.delete(account)
    else running.set(account, own)
    previews--
  }

  async function run(given: AskedPreview, signal: AbortSignal): Promise<PreviewOutcome> {
    // Future hours do not count as silence.
    const asked = { ...given, toMs: Math.max(given.fromMs, Math.min(given.toMs, options.nowMs())) }
    if (!isPreviewed(asked.rule.condition)) return { ok: true, value: unsupported(asked, options.timeZone) }
    const { account } = asked.owner
    const plan = planPreview(options, asked)
    if (!begin(account)) return { ok: false, code: 'PREVIEW_BUSY' }
    const session = thread.begin(plan.job)
    try {
      const days = await readAll(plan, session, signal)
      if (days !== undefined) return { ok: false, code: 'PREVIEW_TOO_LARGE', days }
      return { ok: true, value: answerOf(await session.end(), plan) }
    } finally {
      end(account)
      session.leave()
    }
  }

  /** Returns the days of the range that had room; undefined if all had. */
  async function readAll(plan: PreviewPlan, session: PreviewSession, signal: AbortSignal): Promise<number | undefined> {
    const endMs = performance.now() + limits.timeMsMax
    let readings = 0
    for await (const piece of options.readings(plan.reads, signal)) {
      signal.throwIfAborted()
      if (piece.length === 0) continue
      // Each of several metrics takes its room.
      readings += piece.length * Math.max(1, piece.values.length)
      const reachedMs = (piece.timesUs.at(-1) as number) / 1000
      if (readings > limits.readingsMax || performance.now() > endMs) {
        return Math.max(0, Math.floor((reachedMs - plan.job.fromMs) / dayMs))
      }
      await session.take(piece)
    }
    return undefined
  }

  return { run, close: thread.close }
}

function unsupported({ fromMs, toMs }: AskedPreview, timeZone: string): PreviewAnswer {
  const weeks = weeksBetween(createLocalTime(timeZone), fromMs, toMs)
  return {
    supported: false,
    from: textOf(fromMs),
    to: textOf(toMs),
    devices: [],
    devices_left_out: 0,
    total: 0,
    longest_seconds: 0,
    weeks: weeks.map(week => ({ week, count: 0, half: 0, twice: 0 })),
  }
}

function answerOf({ devices, weeks }: PreviewResult, { job, leftOut, devices: covered }: PreviewPlan): PreviewAnswer {
  const names = new Map(covered.map(({ number, name }) => [number, name]))
  const shown = devices.map(({ number, count, longestMs, intervals }) => ({
    device: names.get(number) ?? null,
    intervals: intervals.map(({ fromMs, toMs }) => ({
      from: textOf(fromMs),
      to: Number.isNaN(toMs) ? null : textOf(toMs),
    })),
    count,
    longest_seconds: longestMs / 1000,
  }))
  return {
    supported: true,
    from: textOf(job.fromMs),
    to: textOf(job.toMs),
    devices: shown.sort((a, b) => b.count - a.count || (a.device ?? '').localeCompare(b.device ?? '', 'en')),
    devices_left_out: leftOut,
    total: shown.reduce((sum, { count }) => sum + count, 0),
    longest_seconds: shown.reduce((max, { longest_seconds }) => Math.max(max, longest_seconds), 0),
    weeks: [...weeks],
  }
}

function textOf(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

interface PlanOptions {
  readonly devices: Pick<AlertDevices, 'all' | 'mayRead' | 'seriesOf' | 'qualityOf'>
  /** Present state of a device on the fleet page. `expectedMs` is NaN for an irregular one. */
  readonly silenceOf: (
    number: number,
  ) => { readonly lastMs: number; readonly lateSeconds: number; readonly expectedMs: number } | undefined
  readonly timeZone: string
  readonly nowMs: () => number
}

interface AskedPreview {
  readonly rule: NewRule
  readonly fromMs: number
  /** The time is not after now. */
  readonly toMs: number
  readonly owner: Owner
}

interface PreviewPlan {
  readonly devices: readonly AlertDevice[]
  /** Devices that are too many. */
  readonly leftOut: number
  readonly job: PreviewJob
  readonly reads: AskedReadings
}

function planPreview(options: PlanOptions, asked: AskedPreview): PreviewPlan {
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

/** The time before the range that may affect its first state. */
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
