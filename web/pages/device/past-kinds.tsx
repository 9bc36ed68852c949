/** Amounts, directions and states of today and earlier days by hour. */

import type { ComponentChildren } from 'preact'
import { blockStyle } from '../../charts/colours.ts'
import { extentOf, linearScale } from '../../charts/paths.ts'
import { plot, SmallChart, type SmallChartProps, TimeAxis } from '../../charts/small-charts.tsx'
import { isSwitch, stateColour, stateWord } from '../../text/kind-words.ts'
import { measureDifference, nameWithin, nameWithUnit, type Quantity } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'
import { amountOfDay, daysAmountText, type HourAmount } from './day-amounts.ts'
import {
  type DaysChartProps,
  directionOfHour,
  hourTicks,
  nameOfDay,
  type PastKey,
  pastDaysOf,
  pastStates,
  statesOfHour,
} from './past-tables.ts'

/** The names of days are left of their rows. */
const labelsWidth = 82
const rowLeft = plot.left + labelsWidth
const rowX = linearScale([0, 24], [rowLeft, plot.right])
const rowHeightMax = 26
const rowsMargin = 6

/** Today's bars and yesterday's outline. */
export function AmountsOfDays({ metric, quantity, past }: DaysChartProps) {
  const x = linearScale([0, 24], [plot.left, plot.right])
  const [ofToday, ofYesterday] = [amountOfDay(past.today, metric), amountOfDay(past.yesterday, metric)]
  const [today, yesterday] = [ofToday?.hours ?? [], ofYesterday?.hours ?? []]
  const [, most] = extentOf([0, ...[...today, ...yesterday].map(({ amount }) => amount)]) ?? [0, 1]
  const y = linearScale([0, most === 0 ? 1 : most], [plot.bottom, plot.top])
  const summary = daysAmountText(ofToday, ofYesterday, quantity)
  const bar = (hour: number, amount: number) =>
    `M${x(hour) + 1} ${plot.bottom}V${y(amount)}H${x(hour + 1) - 1}V${plot.bottom}z`
  return (
    <SmallChart
      title={`${nameWithUnit(quantity)}: ${summary === '' ? t('none today and yesterday') : summary}`}
      label={t('{name} by hour: {summary}. The most in an hour: {most}.', {
        name: quantity.name,
        summary,
        most: measureDifference(most, quantity),
      })}
    >
      <path class="bars" d={today.map(({ hour, amount }) => bar(hour, amount)).join('')} />
      <path class="line past-yesterday" d={outline(yesterday, x, y)} />
      <TimeAxis ticks={hourTicks(x)} />
    </SmallChart>
  )
}

/** Along the tops of bars side by side, down to the ground where one is missing. */
function outline(bars: readonly HourAmount[], x: (hour: number) => number, y: (amount: number) => number): string {
  return bars
    .map(({ hour, amount }, place) => {
      const isJoined = bars[place - 1]?.hour === hour - 1
      const isLast = bars[place + 1]?.hour !== hour + 1
      const start = isJoined ? '' : `M${x(hour)} ${plot.bottom}`
      return `${start}V${y(amount)}H${x(hour + 1)}${isLast ? `V${plot.bottom}` : ''}`
    })
    .join('')
}

interface RowsProps extends Pick<SmallChartProps, 'title' | 'label'> {
  readonly keys: readonly PastKey[]
  readonly row: (key: PastKey, top: number, height: number) => ComponentChildren
}

/** A row for each day, the names before them. */
function DayRows({ title, label, keys, row }: RowsProps) {
  const height = Math.min(rowHeightMax, (plot.bottom - plot.top) / keys.length)
  // Height that the rows do not need is cut off above them.
  const top = plot.bottom - keys.length * height
  return (
    <SmallChart title={title} label={label} top={top - rowsMargin}>
      {keys.map((key, place) => {
        const rowTop = top + place * height
        return (
          <g key={key} class={`past-label past-${key}`}>
            <text x={plot.left} y={rowTop + height / 2 + 4}>
              {nameOfDay[key]}
            </text>
            {row(key, rowTop, height)}
          </g>
        )
      })}
      <TimeAxis ticks={hourTicks(rowX).filter((_, place) => place % 2 === 0)} />
    </SmallChart>
  )
}

/** An arrow an hour. */
export function DirectionsOfDays({ metric, quantity, past }: DaysChartProps) {
  const keys = pastDaysOf(past, { name: metric, kind: 'direction' })
  return (
    <DayRows
      title={t('{name}: the mean of each hour', { name: quantity.name })}
      label={t('Arrows of {name} by hour of {list}.', {
        name: nameWithin(quantity),
        list: keys.map(key => nameOfDay[key]).join(', '),
      })}
      keys={keys}
      row={(key, top, height) =>
        past[key].hours.map((hour, place) => {
          const mean = directionOfHour(hour, metric)
          return mean === null ? null : (
            <path
              key={place}
              class="hour-arrow"
              d="M0 -6 3.2 5 0 2.6 -3.2 5z"
              transform={`translate(${rowX(hour.hour + 0.5)} ${top + height / 2}) rotate(${mean})`}
            />
          )
        })
      }
    />
  )
}

/** The share of each hour in each state, one above the other. */
export function StatesOfDays({ metric, quantity, past }: DaysChartProps) {
  const keys = pastDaysOf(past, { name: metric, kind: 'state' })
  const states = pastStates(past, metric)
  const ofSwitch = isSwitch(states, quantity)
  const words = states.map(state => stateWord(state, ofSwitch)).join(', ')
  return (
    <DayRows
      title={
        <>
          {t('{name}: the share of each hour in each state', { name: quantity.name })}{' '}
          <StateKeys states={states} quantity={quantity} />
        </>
      }
      label={t('{name} by hour of {list}: states {words}.', {
        name: quantity.name,
        list: keys.map(key => nameOfDay[key]).join(', '),
        words,
      })}
      keys={keys}
      row={(key, top, height) =>
        past[key].hours.map((hour, place) => {
          let seconds = 0
          const inner = height - 5
          return statesOfHour(hour, metric)
            .toSorted((a, b) => a.state - b.state)
            .map(({ state, seconds: length }) => {
              seconds += length
              return (
                <rect
                  key={`${place} ${state}`}
                  x={rowX(hour.hour) + 0.5}
                  y={top + 2 + inner * (1 - Math.min(1, seconds / 3600))}
                  width={rowX(hour.hour + 1) - rowX(hour.hour) - 1}
                  height={inner * Math.min(1, length / 3600)}
                  style={blockStyle(stateColour(state))}
                />
              )
            })
        })
      }
    />
  )
}

/** The legend of states. */
function StateKeys({ states, quantity }: { states: readonly number[]; quantity: Quantity }) {
  const ofSwitch = isSwitch(states, quantity)
  return (
    <span class="state-keys">
      {states.map(state => (
        <span key={state}>
          <span class="swatch" style={{ background: `var(${stateColour(state)})` }} />
          {stateWord(state, ofSwitch)}
        </span>
      ))}
    </span>
  )
}
