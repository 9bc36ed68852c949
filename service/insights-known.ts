/** Combines the registry of metrics and the live state for the fleet's insights. */

import { ageSecondsOf } from '../analytics/reliability/freshness.ts'
import type { Metrics } from '../auth/metrics/metrics.ts'
import type { InsightsKnown } from '../query/insights-fleet.ts'
import type { Live } from '../query/live/live.ts'
import { descriptionOf } from '../store/metrics/metric-description.ts'

export function createInsightsKnown(
  metrics: Pick<Metrics, 'metricsOf' | 'series'>,
  live: Pick<Live, 'stateOf' | 'silenceOf'>,
  nowMs: () => number,
): InsightsKnown {
  return {
    gaugesOf(number) {
      return metrics.metricsOf(number).flatMap(metric => {
        const series = metrics.series(number, metric)
        if (series === undefined || metric.kind !== 'gauge') return []
        const { title, unit, decimals } = descriptionOf(metric)
        return [{ metric: { name: metric.name, title, unit, decimals, quality: metric.quality }, series }]
      })
    },
    silenceOf(number) {
      const silence = live.stateOf(number) === 'silent' ? live.silenceOf(number) : undefined
      if (silence === undefined || Number.isNaN(silence.lastMs)) return undefined
      const { lastMs, staleSeconds } = silence
      return { state: ageSecondsOf(lastMs, nowMs()) > staleSeconds ? 'offline' : 'stale', lastMs }
    },
  }
}
