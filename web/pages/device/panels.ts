/** The series of a range as panels of a chart, each drawn as its kind is read. */

import { directionReadout } from '../../charts/direction-readout.ts'
import { breakAtGaps, joinColumns } from '../../charts/line-data.ts'
import type { Panel, Rule } from '../../charts/panel.ts'
import { withinTurn } from '../../text/compass.ts'
import { type Quantity, shownDifference, shownValue } from '../../text/quantities.ts'
import { isSwitch, stateColour, stateWord } from '../../text/state-words.ts'
import type { Times } from '../../text/times.ts'
import { type AlertMarks, lookOfSeverity } from './alert-marks.ts'
import type { AmountSeries, DirectionSeries, GaugeSeries, MetricSeries, StateSeries } from './series.ts'
import { amountText, blocksAt, isOfDays, statesIn, statesText, stretchText } from './series-texts.ts'
import type { SuspectReadings } from './suspects.ts'

export interface PanelContext {
  readonly quantity: Quantity
  readonly times: Times
  readonly suspects: SuspectReadings | undefined
  /** Of means of gauges; undefined for readings as they came. */
  readonly stepMs: number | undefined
  /** Of gauges: limits of rules, and when alerts fire. */
  readonly alerts?: AlertMarks | undefined
}

const panelHeight = 132
/** A state has no height of its own, only a colour. */
const timelineHeight = 48
const sharesHeight = 84
const hourMs = 3_600_000
const shareTicks = [0, 0.5, 1].map(value => ({ value, text: `${100 * value} %` }))

export function panelOf(series: MetricSeries, context: PanelContext): Panel {
  switch (series.kind) {
    case 'gauge':
      return gaugePanel(series, context)
    case 'direction':
      return directionPanel(series, context)
    case 'state':
      return statePanel(series, context)
    case 'counter':
    case 'rate':
      return amountPanel(series, context)
  }
}

function headOf({ metric }: MetricSeries, { name, unit, decimals }: Quantity) {
  return { key: metric, title: name, unit, decimals }
}

function gaugePanel(series: GaugeSeries, { quantity, suspects, stepMs, alerts }: PanelContext): Panel {
  const { metric, timesMs, extremes, gapMs } = series
  const shown = (stored: readonly number[]) => stored.map(value => shownValue(value, quantity))
  const values = shown(series.values)
  const bounds = extremes === undefined ? [] : [shown(extremes.highs), shown(extremes.lows)]
  const edge = { colour: '--accent-wash', width: 0 }
  const whole = breakAtGaps(timesMs, [...bounds, values], gapMs)
  const marks = suspects && { label: 'suspect', timesMs: suspects.timesMs, values: shown(suspects.values) }
  const marked = marks && { timesMs: [...marks.timesMs], lines: [marks.values] }
  const hollow = { colour: '--warn', width: 0, points: 'hollow' } as const
  return {
    ...headOf(series, quantity),
    height: panelHeight,
    content: {
      columns: marked === undefined ? whole : joinColumns([whole, marked]),
      lines: [
        ...bounds.map(() => edge),
        { colour: '--accent', width: 1.25 },
        ...(marked === undefined ? [] : [hollow]),
      ],
      band: extremes === undefined ? undefined : [0, 1],
      rules: limitRules(alerts?.limits.get(metric) ?? [], values, quantity),
      spans: spansOf(alerts, metric),
      decimals: quantity.decimals,
    },
    readouts: [{ timesMs, values }],
    marks,
    reachMs: Math.max(gapMs ?? hourMs, stepMs ?? 0),
  }
}

/** What lies far from all values would leave them no height. */
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

/** Points that nothing joins: from 350° to 10° is a short way over north. */
function directionPanel(series: DirectionSeries, { quantity }: PanelContext): Panel {
  const { timesMs, stepMs } = series
  const values = series.values.map(withinTurn)
  const reachMs = stepMs ?? hourMs
  return {
    ...headOf(series, quantity),
    unit: '',
    height: panelHeight,
    content: {
      columns: { timesMs: [...timesMs], lines: [values] },
      lines: [{ colour: '--accent', width: 0, points: 'all' }],
      range: [0, 360],
      ticks: ['N', 'E', 'S', 'W', 'N'].map((text, quarter) => ({ value: 90 * quarter, text })),
      decimals: quantity.decimals,
    },
    readouts: [directionReadout({ timesMs, values }, reachMs, quantity.decimals)],
    reachMs,
  }
}

function amountPanel(series: AmountSeries, { quantity, times }: PanelContext): Panel {
  const { bars } = series
  const values = bars.map(({ value }) => shownDifference(value, quantity))
  const middlesMs = bars.map(({ fromMs, toMs }) => (fromMs + toMs) / 2)
  return {
    ...headOf(series, quantity),
    height: panelHeight,
    content: {
      columns: { timesMs: middlesMs, lines: [values] },
      lines: [{ colour: '--accent', width: 0, points: 'none' }],
      blocks: bars.map(({ fromMs, toMs }, place) => ({
        fromMs,
        toMs,
        low: Math.min(0, values[place] as number),
        high: Math.max(0, values[place] as number),
        colour: '--accent',
      })),
      decimals: quantity.decimals,
      isFromZero: true,
    },
    readouts: [
      {
        timesMs: middlesMs,
        values,
        textAt: atMs => {
          const [bar] = blocksAt(bars, atMs)
          return bar === undefined ? null : `${amountText(bar, quantity)} (${stretchText(bar, times)})`
        },
      },
    ],
    reachMs: 0,
  }
}

function statePanel(series: StateSeries, { quantity, times }: PanelContext): Panel {
  const { blocks, isShares } = series
  const states = statesIn(blocks)
  const ofSwitch = isSwitch(states, quantity)
  const startsMs = [...new Set(blocks.map(({ fromMs }) => fromMs))]
  return {
    ...headOf(series, quantity),
    unit: isShares ? `share of each ${isOfDays(blocks) ? 'day' : 'hour'}` : '',
    height: isShares ? sharesHeight : timelineHeight,
    content: {
      columns: { timesMs: startsMs, lines: [startsMs.map(() => 0)] },
      lines: [{ colour: '--accent', width: 0, points: 'none' }],
      blocks: blocks.map(({ fromMs, toMs, low, high, state }) => ({
        fromMs,
        toMs,
        low,
        high,
        colour: stateColour(state),
        ...(isShares ? {} : { text: stateWord(state, ofSwitch) }),
      })),
      range: [0, 1],
      ticks: isShares ? shareTicks : [],
      decimals: 0,
    },
    keys: states.map(state => ({ colour: stateColour(state), label: stateWord(state, ofSwitch) })),
    readouts: [
      {
        timesMs: startsMs,
        values: startsMs.map(() => null),
        textAt: atMs => statesText(series, blocksAt(blocks, atMs), { quantity, times }),
      },
    ],
    reachMs: 0,
  }
}
