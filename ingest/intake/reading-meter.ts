/**
 * Metrics of single readings, of PUT /api/log and MQTT: accepted readings, acknowledgement times, and reasons of rejection, which
 * also go to the rejections.
 */

import { createHistogram } from 'node:perf_hooks'
import { Counter, Histogram, type Registry } from 'prom-client'
import { counter } from '../../store/metric-kinds.ts'
import type { Rejection } from '../rejections/rejection.ts'
import type { Rejections } from '../rejections/rejections.ts'

/** Reason why a reading is rejected. */
export const rejectionReasons = [
  'unauthorized',
  'throttled',
  'mismatch',
  'unknown_device',
  'invalid_name',
  'too_many_devices',
  'suspended',
  'disabled',
  'invalid',
  'key_reused',
  'database_away',
  'media_type',
  'too_large',
  'timeout',
  'full',
  'closing',
  'unknown',
] as const
export type RejectionReason = (typeof rejectionReasons)[number]

export interface ReadingMeter {
  /** Counts a reading, acknowledged this long after its body arrived. */
  stored(elapsedMs: number): void
  /** Counts it in the metrics and lists it for operators. `about` adds fields to the log line. */
  rejected(reason: RejectionReason, rejection: Rejection, about?: object): void
  /** A reading is stored without some of its values or fields. */
  leftOut(rejection: Rejection, about?: object): void
}

const ackSeconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]

export function createReadingMeter(
  registry: Registry,
  interval?: Pick<IntervalMeter, 'acknowledged' | 'rejected'>,
  rejections?: Pick<Rejections, 'add'>,
): ReadingMeter {
  const ack = new Histogram({
    name: 'barograph_ack_seconds',
    help: 'Time from the complete request to the acknowledgement of a reading on disk.',
    buckets: ackSeconds,
    registers: [registry],
  })
  const rejects = createRejects(registry)
  let accepted = 0
  counter(
    registry,
    'barograph_readings_accepted_total',
    'Readings acknowledged by PUT /api/log and MQTT.',
    () => accepted,
  )
  return {
    stored(elapsedMs) {
      accepted++
      ack.observe(elapsedMs / 1000)
      interval?.acknowledged(elapsedMs)
    },
    rejected(reason, rejection, about) {
      rejects.inc({ reason })
      interval?.rejected(1)
      rejections?.add(rejection, about)
    },
    leftOut: (rejection, about) => rejections?.add(rejection, about),
  }
}

/** Every reason exists from the start, so that a rate includes its first occurrence. */
function createRejects(registry: Registry): Counter<'reason'> {
  const rejects = new Counter({
    name: 'barograph_readings_rejected_total',
    help: 'Readings that PUT /api/log and MQTT refused, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of rejectionReasons) rejects.inc({ reason }, 0)
  return rejects
}

export interface IntervalMeter {
  /** Counts a single reading, acknowledged this long after its body arrived. */
  acknowledged(elapsedMs: number): void
  rejected(readings: number): void
  /** The sample since the last call. */
  take(): IntervalSample
}

interface IntervalSample {
  /** Undefined when no single reading was acknowledged. */
  ackMs: { p50: number; p99: number } | undefined
  rejected: number
}

const nsPerMs = 1_000_000

/** Counts of readings in an interval, and quantiles of the acknowledgement time by a histogram of bounded size. */
export function createIntervalMeter(): IntervalMeter {
  const histogram = createHistogram({ highest: 3_600_000 * nsPerMs, figures: 3 })
  let rejected = 0
  return {
    acknowledged: elapsedMs => histogram.record(Math.max(1, Math.round(elapsedMs * nsPerMs))),
    rejected(readings) {
      rejected += readings
    },
    take() {
      const quantileMs = (percent: number) => histogram.percentile(percent) / nsPerMs
      const ackMs = histogram.count === 0 ? undefined : { p50: quantileMs(50), p99: quantileMs(99) }
      const sample = { ackMs, rejected }
      histogram.reset()
      rejected = 0
      return sample
    },
  }
}
