/** The figures of a window as tables, each kind with its own. */

import type { WindowFigures } from '../../../query/shapes/kinds.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { compassPoints, directionText, isSwitch, stateWord } from '../../text/kind-words.ts'
import { decimalText } from '../../text/numbers.ts'
import { duration, percent } from '../../text/phrases.ts'
import { measureDifference, type Quantity, shownValue, valueText, withUnit } from '../../text/quantities.ts'
import { localMinuteText } from '../../text/times.ts'
import { t } from '../../words/words.ts'
import type { WindowOf } from './answers.ts'

export function kindTables(figures: WindowFigures, quantity: Quantity): TwinTable[] {
  switch (figures.kind) {
    case 'counter':
      return [figuresTable(quantity, counterRows(figures, quantity)), resetsTable(figures, quantity)].filter(hasRows)
    case 'rate':
      return [figuresTable(quantity, rateRows(figures, quantity))]
    case 'direction':
      return [figuresTable(quantity, directionRows(figures, quantity)), roseTable(figures, quantity)]
    case 'state':
      return [statesTable(figures, quantity)].filter(hasRows)
  }
}

const hasRows = ({ rows }: TwinTable) => rows.length > 0

/** A figure's name and text; null without a value. */
type FigureRow = readonly [name: string, text: string | number | null]

function figuresTable({ name }: Quantity, rows: readonly FigureRow[]): TwinTable {
  return {
    caption: t('{name}: figures', { name }),
    headName: t('Figure'),
    columns: [{ name: t('Value'), decimals: 0 }],
    rows: rows.map(([head, text]) => ({ key: head, head, cells: [text] })),
  }
}

function counterRows(
  { count, last, increase, increase_per_day, resets_total }: WindowOf<'counter'>,
  quantity: Quantity,
) {
  return [
    [t('Values'), count],
    [t('Last total'), valueText(last, quantity)],
    [t('Increase'), differenceText(increase, quantity)],
    [t('Increase a day'), differenceText(increase_per_day, quantity)],
    [t('Resets'), resets_total],
  ] as const
}

function rateRows(figures: WindowOf<'rate'>, quantity: Quantity): FigureRow[] {
  const { count, sum, max, max_at, coverage, greatest_hour } = figures
  return [
    [t('Values'), count],
    [t('Sum'), differenceText(sum, quantity)],
    [t('Largest value'), differenceText(max, quantity)],
    [t('Its time'), max_at === null ? null : localMinuteText(max_at)],
    [t('Values that have come'), coverage === null ? null : percent(coverage)],
    [t('Most in an hour'), differenceText(greatest_hour?.sum ?? null, quantity)],
    [t('From'), greatest_hour === null ? null : localMinuteText(greatest_hour.start)],
    [t('To'), greatest_hour === null ? null : localMinuteText(greatest_hour.end)],
  ]
}

function directionRows(figures: WindowOf<'direction'>, { decimals }: Quantity): FigureRow[] {
  const { count, mean_degrees, resultant_length, circular_std_degrees, vector, rose } = figures
  const direction = (degrees: number | null) => (degrees === null ? null : directionText(degrees, decimals))
  const common: FigureRow[] = [
    [t('Values'), count],
    [t('Mean direction'), direction(mean_degrees)],
    [t('Resultant length'), resultant_length === null ? null : decimalText(resultant_length, 3)],
    [
      t('Circular standard deviation'),
      circular_std_degrees === null ? null : withUnit(decimalText(circular_std_degrees, decimals), { unit: '°' }),
    ],
  ]
  if (vector === null) return common
  return [
    ...common,
    [t('Direction weighted by speed'), direction(vector.vector_direction_degrees)],
    [t('Steadiness'), vector.steadiness === null ? null : percent(vector.steadiness)],
    [t('Calm'), rose.calm_share === null ? null : percent(rose.calm_share)],
  ]
}

function roseTable({ rose: { sector_counts, count } }: WindowOf<'direction'>, { name }: Quantity): TwinTable {
  return {
    caption: t('{name}: how often it is each direction', { name }),
    headName: t('Direction'),
    columns: [t('Values'), t('Share')].map(column => ({ name: column, decimals: 0 })),
    rows: sector_counts.map((sector, place) => {
      const point = compassPoints[place] ?? ''
      return { key: point, head: point, cells: [sector, count === 0 ? null : percent(sector / count)] }
    }),
  }
}

function statesTable({ states, last }: WindowOf<'state'>, quantity: Quantity): TwinTable {
  const ofSwitch = isSwitch([...states.map(({ state }) => state), ...(last === null ? [] : [last])], quantity)
  return {
    caption: t('{name}: time in each state', { name: quantity.name }),
    headName: t('State'),
    columns: [
      { name: t('Number'), decimals: 0 },
      { name: t('Time'), decimals: 0 },
      { name: t('Share'), decimals: 0 },
    ],
    rows: states.map(({ state, seconds, share }) => ({
      key: state,
      head: stateWord(state, ofSwitch),
      cells: [state, duration(seconds), percent(share)],
    })),
  }
}

/** The newest first, as far back as the answer has them. */
function resetsTable({ resets }: WindowOf<'counter'>, quantity: Quantity): TwinTable {
  return {
    caption: t('{name}: when it started again', { name: quantity.name }),
    headName: t('After'),
    columns: [
      { name: t('Until'), decimals: 0 },
      { name: t('Total before'), decimals: quantity.decimals },
      { name: t('Total after'), decimals: quantity.decimals },
    ],
    rows: resets.map(({ after, until, value_before, value_after }) => ({
      key: `${after} ${value_before}`,
      head: localMinuteText(after),
      cells: [localMinuteText(until), shownValue(value_before, quantity), shownValue(value_after, quantity)],
    })),
  }
}

function differenceText(difference: number | null, quantity: Quantity): string | null {
  return difference === null ? null : measureDifference(difference, quantity)
}
