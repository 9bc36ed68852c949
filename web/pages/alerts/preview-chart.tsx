/** The readings of a device with the limit of a rule, and when the rule would have fired. */

import { useMemo, useState } from 'preact/hooks'
import type { PreviewAnswer } from '../../../alerts/core/preview-answer.ts'
import type { NewRule } from '../../../alerts/core/rule.ts'
import { ChartStack } from '../../charts/chart-stack.tsx'
import { stepOf, type TimeWindow } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { readReadings } from '../../client/read-json.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { createZone } from '../../text/zone.ts'
import { t } from '../../words/words.ts'
import { type FiringStretch, firingPanel, limitsOf } from '../device/alert-marks.ts'
import { panelOf } from '../device/panels.ts'
import { readingsQuery } from '../device/range-plan.ts'
import { readingsSeries } from '../device/series.ts'
import { metricOf } from './rule-form.ts'
import type { KnownFleet } from './use-fleet.ts'

const pointsMax = 800
const ofReadings = { read: readReadings }

export interface PreviewChartProps {
  shown: PreviewAnswer['devices'][number]
  rule: NewRule
  fleet: KnownFleet
  window: TimeWindow
}

export function PreviewChart({ shown, rule, fleet, window }: PreviewChartProps) {
  const { quantities, times } = fleet
  const { device } = shown
  const metric = metricOf(rule.condition)
  const [zoomed, setZoomed] = useState<TimeWindow>()
  const seen = zoomed ?? window
  const stepSeconds = stepOf(seen, pointsMax)
  const readings = useResource(
    device === null || metric === undefined
      ? undefined
      : addressOf(`/api/readings/${encodeURIComponent(device)}?${readingsQuery(seen, stepSeconds, 'json', [metric])}`),
    ofReadings,
  )
  const rows = lastValue(readings)?.rows
  const zone = createZone(times.zone)
  const panels = useMemo(() => {
    const firing = firingOf(shown, rule, metric ?? null, window)
    const series = metric === undefined ? [] : readingsSeries(rows ?? [], [metric], stepSeconds, () => null)
    const alerts = { limits: limitsOf([{ ...rule, enabled: true }]), firing }
    const drawn = series.map(one =>
      panelOf(one, {
        quantity: quantities.of(one.metric),
        times,
        suspects: undefined,
        stepMs: stepSeconds * 1000,
        alerts,
      }),
    )
    const timeline = firingPanel(firing, times)
    return timeline === undefined ? drawn : [...drawn, timeline]
  }, [shown, rule, metric, rows, stepSeconds, quantities, times, window])
  if (panels.length === 0) return null
  return (
    <ChartStack
      label={t('Preview of the rule on {devices}', { devices: device ?? t('all its devices') })}
      panels={panels}
      window={seen}
      nowMs={window.toMs}
      zone={zone}
      times={times}
      onWindow={setZoomed}
      onReset={() => setZoomed(undefined)}
    />
  )
}

function firingOf(
  { intervals }: PreviewAnswer['devices'][number],
  { name, severity }: NewRule,
  metric: string | null,
  { toMs }: TimeWindow,
): FiringStretch[] {
  return intervals.map(({ from, to }) => ({
    fromMs: Date.parse(from),
    toMs: to === null ? toMs : Date.parse(to),
    severity,
    text: name,
    metric,
  }))
}
