/** A gauge's line with its band of extremes, suspect readings, limits of rules and forecast. */

import { breakAtGaps, type Columns, joinColumns } from '../../charts/line-data.ts'
import { metricColour } from '../../charts/metric-colours.ts'
import type { Panel, Readout, Rule } from '../../charts/panel.ts'
import { type Quantity, shownValue } from '../../text/quantities.ts'
import { type AlertMarks, lookOfSeverity } from './alert-marks.ts'
import { type ForecastSeries, forecastText } from './forecast.ts'
import type { GaugeSeries, MetricSeries } from './series.ts'
import type { SuspectReadings } from './suspects.ts'

export interface GaugeContext {
  readonly quantity: Quantity
  readonly suspects: SuspectReadings | undefined
  readonly forecast?: ForecastSeries | undefined
  /** The step of means; undefined for single readings. */
  readonly stepMs: number | undefined
  /** Limits of rules, and when alerts fire. */
  readonly alerts?: AlertMarks | undefined
}

export const panelHeight = 132
const hourMs = 3_600_000
/** Neutral, to differ from the forecast's band. */
const usualColour = '--edge'
const usualEdge = { colour: usualColour, width: 0, points: 'none' } as const
const hollow = { colour: '--warn', width: 0, points: 'hollow' } as const

export function headOf({ metric }: Pick<MetricSeries, 'metric'>, { name, unit, decimals }: Quantity) {
  return { key: metric, title: name, unit, decimals }
}

export function gaugePanel(series: GaugeSeries, context: GaugeContext): Panel {
  const { quantity, suspects, forecast, stepMs, alerts } = context
  const { metric, timesMs, extremes, gapMs } = series
  const colour = metricColour(metric)
  const edge = { colour, width: 0, points: 'none' } as const
  const shown = (stored: readonly number[]) => stored.map(value => shownValue(value, quantity))
  const values = shown(series.values)
  const bounds = extremes === undefined ? [] : [shown(extremes.highs), shown(extremes.lows)]
  // While another range loads, the means of the last one stay.
  const coming = extremes === undefined ? forecast : undefined
  const ahead = coming && coming.timesMs.length > 0 ? aheadColumns(coming, shown) : undefined
  const usual = coming && coming.usual.timesMs.length > 0 ? usualColumns(coming, shown) : undefined
  const whole = breakAtGaps(timesMs, [...bounds, values], gapMs)
  const marks = suspects && { label: 'suspect', timesMs: suspects.timesMs, values: shown(suspects.values) }
  const marked = marks && { timesMs: [...marks.timesMs], lines: [marks.values] }
  return {
    ...headOf(series, quantity),
    height: panelHeight,
    content: {
      columns: joined([ahead, usual, whole, marked]),
      lines: [
        ...(ahead === undefined ? [] : [edge, edge, { colour, width: 1.75, points: 'none' as const, dash: [5, 3] }]),
        ...(usual === undefined ? [] : [usualEdge, usualEdge]),
        ...bounds.map(() => edge),
        { colour, width: 1.75 },
        ...(marked === undefined ? [] : [hollow]),
      ],
      bands: bandsOf(ahead?.lines.length ?? 0, usual !== undefined || extremes !== undefined),
      rules: limitRules(alerts?.limits.get(metric) ?? [], values, quantity),
      spans: spansOf(alerts, metric),
      decimals: quantity.decimals,
    },
    readouts: [{ timesMs, values }],
    ahead: coming && ahead && aheadOf(coming, quantity),
    ...(usual === undefined ? {} : { keys: [{ colour: usualColour, label: 'usual' }] }),
    marks,
    reachMs: Math.max(gapMs ?? hourMs, stepMs ?? 0),
  }
}

function aheadColumns(
  { timesMs, highs, lows, medians }: ForecastSeries,
  shown: (stored: readonly number[]) => number[],
): Columns {
  return { timesMs: [...timesMs], lines: [shown(highs), shown(lows), shown(medians)] }
}

function usualColumns({ usual }: ForecastSeries, shown: (stored: readonly number[]) => number[]): Columns {
  return breakAtGaps(usual.timesMs, [shown(usual.highs), shown(usual.lows)], 1.5 * hourMs)
}

/** Of a forecast, and of the usual range or the extremes behind its lines. */
function bandsOf(linesAhead: number, hasOther: boolean): [number, number][] {
  return [
    ...(linesAhead === 0 ? [] : [[0, 1] as [number, number]]),
    ...(hasOther ? [[linesAhead, linesAhead + 1] as [number, number]] : []),
  ]
}

function joined(all: readonly (Columns | undefined)[]): Columns {
  const there = all.filter(columns => columns !== undefined)
  return there.length === 1 ? (there[0] as Columns) : joinColumns(there)
}

function aheadOf(forecast: ForecastSeries, quantity: Quantity): Readout {
  return {
    label: 'forecast, 80 %',
    colour: 'ahead',
    timesMs: forecast.timesMs,
    values: [],
    textAt: atMs => forecastText(forecast, atMs, quantity),
  }
}

/** A limit far from all values would flatten the line. */
const nearSpans = 2

function limitRules(
  limits: readonly { readonly value: number; readonly text: string }[],
  values: readonly number[],
  quantity: Quantity,
): Rule[] {
  const [low, high] = values.reduce(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  )
  const reach = nearSpans * Math.max(high - low, 20 * 10 ** -quantity.decimals)
  return limits
    .map(({ value, text }) => ({ value: shownValue(value, quantity), text, isDashed: true }))
    .filter(({ value }) => value >= low - reach && value <= high + reach)
}

function spansOf(alerts: AlertMarks | undefined, metric: string): Panel['content']['spans'] {
  return alerts?.firing
    .filter(stretch => stretch.metric === metric)
    .map(({ fromMs, toMs, severity }) => ({ fromMs, toMs, ...lookOfSeverity[severity] }))
}
