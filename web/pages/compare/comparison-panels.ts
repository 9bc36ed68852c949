/** A compared metric as two charts: both devices, and their difference with its bias and the limits of agreement. */

import { breakAtGaps, joinColumns } from '../../charts/line-data.ts'
import type { Panel } from '../../charts/panel.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { measureDifference, type Quantity, shownDifference, shownValue } from '../../text/quantities.ts'
import type { Agreement, ComparedMetric, ComparePreset } from './answers.ts'

const hourMs = 3_600_000
const hoursOfPreset: Record<ComparePreset, number> = {
  '24h': 24,
  '3d': 72,
  '7d': 168,
  '30d': 720,
  '90d': 2160,
  '365d': 8760,
}

/** Whole hours up to the last one that any of the series has; undefined when they have none. */
export function comparedWindow(metrics: readonly ComparedMetric[], preset: ComparePreset): TimeWindow | undefined {
  const lasts = metrics.flatMap(({ a, b }) => [a.at(-1)?.t, b.at(-1)?.t]).filter(lastMs => lastMs !== undefined)
  if (lasts.length === 0) return undefined
  const toMs = Math.max(...lasts) + hourMs
  return { fromMs: toMs - hoursOfPreset[preset] * hourMs, toMs }
}

/** Between two hours with a value of a device that does not report every hour, there is no gap. */
function usualGapMs(points: ComparedMetric['a']): number {
  const steps = points.slice(1).map(({ t }, place) => t - (points[place] as { t: number }).t)
  const usualMs = steps.sort((a, b) => a - b)[steps.length >> 1] ?? hourMs
  return 1.5 * usualMs
}

export interface PanelNames {
  readonly quantity: Quantity
  readonly a: string
  readonly b: string
}

export function metricPanels({ quantity, a: nameOfA, b: nameOfB }: PanelNames, metric: ComparedMetric): Panel[] {
  const { a, b, diff, stats } = metric
  const [timesOfA, timesOfB, timesOfDiff] = [a, b, diff].map(points => points.map(({ t }) => t)) as [
    number[],
    number[],
    number[],
  ]
  const [valuesOfA, valuesOfB] = [a, b].map(points => points.map(({ v }) => shownValue(v, quantity))) as [
    number[],
    number[],
  ]
  const differences = diff.map(({ v }) => shownDifference(v, quantity))
  const gapMs = Math.max(usualGapMs(a), usualGapMs(b))
  const common = { unit: quantity.unit, decimals: quantity.decimals, reachMs: gapMs }
  const both = joinColumns([breakAtGaps(timesOfA, [valuesOfA], gapMs), breakAtGaps(timesOfB, [valuesOfB], gapMs)])
  return [
    {
      ...common,
      key: 'both',
      title: quantity.name,
      height: 170,
      content: {
        columns: both,
        lines: [
          { colour: '--accent', width: 1.25 },
          { colour: '--literal', width: 1.25 },
        ],
        decimals: quantity.decimals,
      },
      readouts: [
        { label: nameOfA, colour: 'first', timesMs: timesOfA, values: valuesOfA },
        { label: nameOfB, colour: 'second', timesMs: timesOfB, values: valuesOfB },
      ],
    },
    {
      ...common,
      key: 'difference',
      title: `${nameOfA} − ${nameOfB}`,
      height: 130,
      content: {
        columns: breakAtGaps(timesOfDiff, [differences], gapMs),
        lines: [{ colour: '--ink', width: 1 }],
        rules: rulesOf(quantity, stats),
        decimals: quantity.decimals,
      },
      readouts: [{ timesMs: timesOfDiff, values: differences }],
    },
  ]
}

function rulesOf(quantity: Quantity, { bias, limits_of_agreement }: Agreement): Panel['content']['rules'] {
  const finer = { ...quantity, decimals: quantity.decimals + 1 }
  const rule = (difference: number, what: string, isDashed: boolean) => ({
    value: shownDifference(difference, quantity),
    text: `${what}${measureDifference(difference, finer)}`,
    isDashed,
  })
  const mean = bias === null ? [] : [rule(bias, 'bias ', false)]
  return [...mean, ...(limits_of_agreement ?? []).map(limit => rule(limit, '', true))]
}
