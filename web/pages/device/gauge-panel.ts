/** A gauge's line with its band of extremes, suspect readings, limits of rules and forecast. */

import { metricColour } from '../../charts/colours.ts'
import { breakAtGaps, type Columns, joinColumns } from '../../charts/line-data.ts'
import type { ChartContent, Panel, Readout, Rule } from '../../charts/panel.ts'
import { type Quantity, shownValue } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'
import { type AlertMarks, lookOfSeverity } from './alert-marks.ts'
import { type ForecastSeries, forecastText } from './forecast.ts'
import type { GaugeSeries, MetricSeries, SuspectReadings } from './series.ts'

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
  const expected = expectedOf(extremes === undefined ? forecast : undefined, colour, shown)
  const whole = breakAtGaps(timesMs, [...bounds, values], gapMs)
  const marks = suspects && { label: t('suspect'), timesMs: suspects.timesMs, values: shown(suspects.values) }
  const marked = marks && { timesMs: [...marks.timesMs], lines: [marks.values] }
  return {
    ...headOf(series, quantity),
    height: panelHeight,
    content: {
      columns: joined([...expected.columns, whole, marked]),
      lines: [
        ...expected.lines,
        ...bounds.map(() => edge),
        { colour, width: 1.75 },
        ...(marked === undefined ? [] : [hollow]),
      ],
      bands: [...expected.bands, ...(extremes === undefined ? [] : [[0, 1] as const])],
      rules: limitRules(alerts?.limits.get(metric) ?? [], values, quantity),
      spans: spansOf(alerts, metric),
      decimals: quantity.decimals,
    },
    readouts: [{ timesMs, values }],
    ahead: expected.ahead && aheadOf(expected.ahead, quantity),
    keys: expected.keys,
    marks,
    reachMs: Math.max(gapMs ?? hourMs, stepMs ?? 0),
  }
}

interface Expected {
  readonly columns: readonly Columns[]
  readonly lines: ChartContent['lines']
  readonly bands: NonNullable<ChartContent['bands']>
  readonly keys: NonNullable<Panel['keys']>
  /** Undefined without a forecast. */
  readonly ahead: ForecastSeries | undefined
}

/** The usual range up to now, and the forecast: the first lines of a panel, each with a band. */
function expectedOf(
  forecast: ForecastSeries | undefined,
  colour: string,
  shown: (stored: readonly number[]) => number[],
): Expected {
  if (forecast === undefined) return { columns: [], lines: [], bands: [], keys: [], ahead: undefined }
  const { usual, timesMs, highs, lows, medians } = forecast
  const edge = { colour, width: 0, points: 'none' } as const
  const [hasUsual, hasAhead] = [usual.timesMs.length > 0, timesMs.length > 0]
  const usualColumns = breakAtGaps(usual.timesMs, [shown(usual.highs), shown(usual.lows)], 1.5 * hourMs)
  const aheadColumns = { timesMs: [...timesMs], lines: [shown(highs), shown(lows), shown(medians)] }
  const aheadFrom = hasUsual ? 2 : 0
  return {
    columns: [...(hasUsual ? [usualColumns] : []), ...(hasAhead ? [aheadColumns] : [])],
    lines: [
      ...(hasUsual ? [usualEdge, usualEdge] : []),
      ...(hasAhead ? [edge, edge, { colour, width: 1.75, points: 'none', dash: [5, 3] } as const] : []),
    ],
    bands: [...(hasUsual ? [[0, 1] as const] : []), ...(hasAhead ? [[aheadFrom, aheadFrom + 1] as const] : [])],
    keys: hasUsual ? [{ colour: usualColour, label: t('usual') }] : [],
    ahead: hasAhead ? forecast : undefined,
  }
}

function joined(all: readonly (Columns | undefined)[]): Columns {
  const there = all.filter(columns => columns !== undefined)
  return there.length === 1 ? (there[0] as Columns) : joinColumns(there)
}

function aheadOf(forecast: ForecastSeries, quantity: Quantity): Readout {
  return {
    label: t('forecast, 80 %'),
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
