/** The series of a range as panels of a chart, each drawn as its kind is read. */

import { metricColour } from '../../charts/colours.ts'
import { blocksAt, type Panel } from '../../charts/panel.ts'
import { directionReadout } from '../../charts/readouts.ts'
import { compassPoint, isSwitch, quarterPoints, stateColour, stateWord, withinTurn } from '../../text/kind-words.ts'
import { shownDifference } from '../../text/quantities.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import { type GaugeContext, gaugePanel, headOf, panelHeight } from './gauge-panel.ts'
import type { AmountSeries, DirectionSeries, MetricSeries, StateSeries } from './series.ts'
import { amountText, isOfDays, statesIn, statesText, stretchText } from './series-texts.ts'

export interface PanelContext extends GaugeContext {
  readonly times: Times
}

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
      lines: [{ colour: metricColour(series.metric), width: 0, points: 'all' }],
      range: [0, 360],
      ticks: [...quarterPoints, compassPoint(0)].map((text, quarter) => ({ value: 90 * quarter, text })),
      decimals: quantity.decimals,
    },
    readouts: [directionReadout({ timesMs, values }, reachMs, quantity.decimals)],
    reachMs,
  }
}

function amountPanel(series: AmountSeries, { quantity, times }: PanelContext): Panel {
  const { bars } = series
  const colour = metricColour(series.metric)
  const values = bars.map(({ value }) => shownDifference(value, quantity))
  const middlesMs = bars.map(({ fromMs, toMs }) => (fromMs + toMs) / 2)
  return {
    ...headOf(series, quantity),
    height: panelHeight,
    content: {
      columns: { timesMs: middlesMs, lines: [values] },
      lines: [{ colour, width: 0, points: 'none' }],
      blocks: bars.map(({ fromMs, toMs }, place) => ({
        fromMs,
        toMs,
        low: Math.min(0, values[place] as number),
        high: Math.max(0, values[place] as number),
        colour,
      })),
      decimals: quantity.decimals,
      isFromZero: true,
    },
    readouts: [
      {
        timesMs: middlesMs,
        values,
        quantity,
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
    unit: isShares ? (isOfDays(blocks) ? t('share of each day') : t('share of each hour')) : '',
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
