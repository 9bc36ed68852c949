/** The figures of a window as tables, each kind with its own. */

import type { WindowFigures } from '../../../query/shapes/kinds.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { compassPoints, directionText, isSwitch, stateWord } from '../../text/kind-words.ts'
import { decimalText } from '../../text/numbers.ts'
import { duration, percent } from '../../text/phrases.ts'
import { measureDifference, type Quantity, shownValue, valueText, withUnit } from '../../text/quantities.ts'
import { localMinuteText } from '../../text/times.ts'
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
    caption: `${name}: figures`,
    headName: 'Figure',
    columns: [{ name: 'Value', decimals: 0 }],
    rows: rows.map(([head, text]) => ({ key: head, head, cells: [text] })),
  }
}

function counterRows(
  { count, last, increase, increase_per_day, resets_total }: WindowOf<'counter'>,
  quantity: Quantity,
) {
  return [
    ['Values', count],
    ['Last total', valueText(last, quantity)],
    ['Increase', differenceText(increase, quantity)],
    ['Increase a day', differenceText(increase_per_day, quantity)],
    ['Resets', resets_total],
  ] as const
}

function rateRows(figures: WindowOf<'rate'>, quantity: Quantity): FigureRow[] {
  const { count, sum, max, max_at, coverage, greatest_hour } = figures
  return [
    ['Values', count],
    ['Sum', differenceText(sum, quantity)],
    ['Largest value', differenceText(max, quantity)],
    ['Its time', max_at === null ? null : localMinuteText(max_at)],
    ['Values that have come', coverage === null ? null : percent(coverage)],
    ['Most in an hour', differenceText(greatest_hour?.sum ?? null, quantity)],
    ['From', greatest_hour === null ? null : localMinuteText(greatest_hour.start)],
    ['To', greatest_hour === null ? null : localMinuteText(greatest_hour.end)],
  ]
}

function directionRows(figures: WindowOf<'direction'>, { decimals }: Quantity): FigureRow[] {
  const { count, mean_degrees, resultant_length, circular_std_degrees, vector, rose } = figures
  const direction = (degrees: number | null) => (degrees === null ? null : directionText(degrees, decimals))
  const common: FigureRow[] = [
    ['Values', count],
    ['Mean direction', direction(mean_degrees)],
    ['Resultant length', resultant_length === null ? null : decimalText(resultant_length, 3)],
    [
      'Circular standard deviation',
      circular_std_degrees === null ? null : withUnit(decimalText(circular_std_degrees, decimals), { unit: '°' }),
    ],
  ]
  if (vector === null) return common
  return [
    ...common,
    ['Direction weighted by speed', direction(vector.vector_direction_degrees)],
    ['Steadiness', vector.steadiness === null ? null : percent(vector.steadiness)],
    ['Calm', rose.calm_share === null ? null : percent(rose.calm_share)],
  ]
}

function roseTable({ rose: { sector_counts, count } }: WindowOf<'direction'>, { name }: Quantity): TwinTable {
  return {
    caption: `${name}: how often it is each direction`,
    headName: 'Direction',
    columns: ['Values', 'Share'].map(column => ({ name: column, decimals: 0 })),
    rows: sector_counts.map((sector, place) => {
      const point = compassPoints[place] ?? ''
      return { key: point, head: point, cells: [sector, count === 0 ? null : percent(sector / count)] }
    }),
  }
}

function statesTable({ states, last }: WindowOf<'state'>, quantity: Quantity): TwinTable {
  const ofSwitch = isSwitch([...states.map(({ state }) => state), ...(last === null ? [] : [last])], quantity)
  return {
    caption: `${quantity.name}: time in each state`,
    headName: 'State',
    columns: [
      { name: 'Number', decimals: 0 },
      { name: 'Time', decimals: 0 },
      { name: 'Share', decimals: 0 },
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
    caption: `${quantity.name}: when it started again`,
    headName: 'After',
    columns: [
      { name: 'Until', decimals: 0 },
      { name: 'Total before', decimals: quantity.decimals },
      { name: 'Total after', decimals: quantity.decimals },
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
