/** The delay with which the event loop runs a timer, without the period of the timer. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Registry } from 'prom-client'
import { gauge } from '../../store/metric-kinds.ts'

/** A period of 10 ms, the default of prom-client, takes half a percent of a core; this one takes a tenth of that. */
const periodMs = 100
const nsPerMs = 1_000_000

export interface EventLoopDelay {
  /** Since the last reset, in milliseconds. */
  meanMs(): number
  maxMs(): number
  /** `percent`: above 0, up to 100. */
  percentileMs(percent: number): number
  reset(): void
  close(): void
}

export function watchEventLoop(): EventLoopDelay {
  const periods = monitorEventLoopDelay({ resolution: periodMs })
  periods.enable()
  const delayMs = (ns: number) => (periods.count === 0 ? 0 : Math.max(0, ns / nsPerMs - periodMs))
  return {
    meanMs: () => delayMs(periods.mean),
    maxMs: () => delayMs(periods.max),
    percentileMs: percent => delayMs(periods.percentile(percent)),
    reset: () => periods.reset(),
    close: () => void periods.disable(),
  }
}

const prefix = 'nodejs_eventloop_lag_'
/** The same monitor at a period that never ends, since prom-client has no other way to leave it out. */
export const withoutMonitor = { eventLoopMonitoringPrecision: 2 ** 31 - 1 }

/** Replaces the figures of prom-client, which are not below its period. Each scrape begins a new interval. */
export function addEventLoopMetrics(registry: Registry): void {
  for (const name of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    registry.removeSingleMetric(`${prefix}${name}_seconds`)
  }
  const delay = watchEventLoop()
  const add = (name: string, help: string, readMs: () => number) =>
    gauge(registry, `${prefix}${name}_seconds`, help, () => readMs() / 1000)
  add('mean', 'Mean delay of the event loop since the last scrape.', delay.meanMs)
  for (const percent of [50, 90, 99]) {
    add(`p${percent}`, `${percent} % quantile of that delay.`, () => delay.percentileMs(percent))
  }
  add('max', 'Longest delay of a timer of 100 ms since the last scrape.', () => {
    const ms = delay.maxMs()
    delay.reset()
    return ms
  })
}
