/** Today and earlier days by hour: which there are, and their figures as tables. */

import type { PastDays } from '../../../query/shapes/past.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { directionText, isSwitch, stateWord } from '../../text/kind-words.ts'
import { duration } from '../../text/phrases.ts'
import { nameWithUnit, type Quantity, shownValue } from '../../text/quantities.ts'
import { hourText } from '../../text/times.ts'
import { t } from '../../words/words.ts'
import { pastFiguresOf, pastMeanOf } from './answers.ts'
import { amountOf } from './kind-series.ts'
import { amountCell } from './series-texts.ts'
import type { ShownMetric } from './shown-metrics.ts'

export const nameOfDay = {
  today: t('today'),
  yesterday: t('yesterday'),
  '7d': t('7 days ago'),
  '30d': t('30 days ago'),
  '365d': t('a year ago'),
} as const satisfies Partial<Record<keyof PastDays, string>>
export type PastKey = keyof typeof nameOfDay
export const pastKeys = Object.keys(nameOfDay) as PastKey[]

/** The props of a chart of one metric. */
export interface DaysChartProps {
  readonly metric: string
  readonly quantity: Quantity
  readonly past: PastDays
}

type PastHour = PastDays['today']['hours'][number]

/** Ticks below a chart of hours. */
export function hourTicks(x: (hour: number) => number): { x: number; text: string }[] {
  return [0, 6, 12, 18, 24].map(hour => ({ x: x(hour), text: hourText(hour) }))
}

/** An hour's amount, number, or states with their seconds; null without a value. */
function amountOfHour(hour: PastHour, metric: string) {
  const figures = pastFiguresOf<'counter' | 'rate'>(hour, metric)
  return (figures && amountOf(figures)) ?? null
}

export function directionOfHour(hour: PastHour, metric: string): number | null {
  return pastFiguresOf<'direction'>(hour, metric)?.mean_degrees ?? null
}

export function statesOfHour(hour: PastHour, metric: string) {
  return pastFiguresOf<'state'>(hour, metric)?.states ?? []
}

function isThere(hour: PastHour, { name, kind }: ShownMetric): boolean {
  if (kind === 'gauge') return pastMeanOf(hour, name) !== null
  if (kind === 'direction') return directionOfHour(hour, name) !== null
  return kind === 'state' ? statesOfHour(hour, name).length > 0 : amountOfHour(hour, name) !== null
}

/** The days that have something of a metric, today first. */
export function pastDaysOf(past: PastDays, metric: ShownMetric): PastKey[] {
  return pastKeys.filter(key => past[key].hours.some(hour => isThere(hour, metric)))
}

export function hasPast(past: PastDays, metric: ShownMetric): boolean {
  return pastDaysOf(past, metric).length > 0
}

/** All states of these days, ascending. */
export function pastStates(past: PastDays, metric: string): number[] {
  const states = pastKeys.flatMap(key => past[key].hours.flatMap(hour => statesOfHour(hour, metric)))
  return [...new Set(states.map(({ state }) => state))].sort((a, b) => a - b)
}

/** An hour that a day has twice, as clocks are set back, shows its first figures. */
export function pastTable(past: PastDays, { name, kind }: ShownMetric, quantity: Quantity): TwinTable {
  const ofSwitch = kind === 'state' && isSwitch(pastStates(past, name), quantity)
  const cell = (hour: PastHour): number | string | null => {
    switch (kind) {
      case 'gauge':
        return shown(pastMeanOf(hour, name), value => shownValue(value, quantity))
      case 'direction':
        return shown(directionOfHour(hour, name), value => directionText(value, quantity.decimals))
      case 'state':
        return statesCell(statesOfHour(hour, name), ofSwitch)
      default:
        return shown(amountOfHour(hour, name), amount => amountCell(amount, quantity))
    }
  }
  const hourOf = (key: PastKey, hour: number) => past[key].hours.find(entry => entry.hour === hour)
  return {
    caption: nameWithUnit({
      ...quantity,
      name: t('{name} by hour', { name: quantity.name }),
      unit: kind === 'direction' ? '' : quantity.unit,
    }),
    headName: t('Hour'),
    columns: pastKeys.map(key => ({ name: `${nameOfDay[key]} (${past[key].date})`, decimals: quantity.decimals })),
    rows: Array.from({ length: 24 }, (_, hour) => ({
      key: hour,
      head: `${hour}:00`,
      cells: pastKeys.map(key => shown(hourOf(key, hour) ?? null, cell)),
    })),
  }
}

function shown<Value, Shown>(value: Value | null, show: (value: Value) => Shown): Shown | null {
  return value === null ? null : show(value)
}

/** `on 12 minutes, off 48 minutes` */
function statesCell(states: ReturnType<typeof statesOfHour>, ofSwitch: boolean): string | null {
  if (states.length === 0) return null
  return states.map(({ state, seconds }) => `${stateWord(state, ofSwitch)} ${duration(seconds)}`).join(', ')
}
