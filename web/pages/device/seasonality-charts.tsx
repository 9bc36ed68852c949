/** Charts of a metric's usual day, autocorrelation and cycles. */

import type { Autocorrelation, Peak, Seasonality } from '../../../query/shapes/stats.ts'
import { extentOf, linearScale, type Spot } from '../../charts/paths.ts'
import { Area, Line, Mark, plot, SmallChart, TimeAxis } from '../../charts/small-charts.tsx'
import { decimalText, inOneUnit } from '../../text/numbers.ts'
import { measure, type Quantity } from '../../text/quantities.ts'
import { hourText } from '../../text/times.ts'
import { t } from '../../words/words.ts'
import { hourTicks } from './past-tables.ts'

const across = [plot.left, plot.right] as const
const up = [plot.bottom, plot.top] as const
/** Leaves room for the words below the lowest value. */
const upFromWords = [plot.bottom - 20, plot.top] as const

export interface ProfileChartProps {
  readonly quantity: Quantity
  readonly profile: Seasonality['daily_profile']
  /** The chart's name; over few days it is not called usual. */
  readonly name: string
}

export function ProfileChart({ quantity, profile, name }: ProfileChartProps) {
  const x = linearScale([0, 24], across)
  const extent = extentOf(profile.flatMap(({ p10, p90, mean }) => [p10, p90, mean]))
  if (extent === undefined) return null
  const y = linearScale(extent, upFromWords)
  const spots = (of: (hour: Seasonality['daily_profile'][number]) => number | null): Spot[] =>
    profile.map(hour => [x(hour.hour + 0.5), mapped(of(hour), y)])
  const means = profile.filter(({ mean }) => mean !== null) as { hour: number; mean: number }[]
  const highest = means.reduce((best, hour) => (hour.mean > best.mean ? hour : best))
  const lowest = means.reduce((best, hour) => (hour.mean < best.mean ? hour : best))
  const text = ({ mean }: { mean: number }) => measure(mean, quantity)
  return (
    <SmallChart
      title={t('{name}: the mean of each hour, and where four in five readings lie', { name })}
      label={t('Mean by hour: highest {highest} at {high}, lowest {lowest} at {low}.', {
        highest: text(highest),
        high: hourText(highest.hour),
        lowest: text(lowest),
        low: hourText(lowest.hour),
      })}
    >
      <Area lower={spots(({ p10 }) => p10)} upper={spots(({ p90 }) => p90)} />
      <TimeAxis ticks={hourTicks(x)} />
      <Line spots={spots(({ mean }) => mean)} />
      <Mark x={x(highest.hour + 0.5)} y={y(highest.mean)} text={text(highest)} />
      <Mark x={x(lowest.hour + 0.5)} y={y(lowest.mean)} text={text(lowest)} isBelow />
    </SmallChart>
  )
}

const mapped = (value: number | null, y: (value: number) => number) => (value === null ? null : y(value))

export function AutocorrelationChart({ autocorrelation }: { autocorrelation: Autocorrelation }) {
  const { lags_hours, acf, band95, peak } = autocorrelation
  if (lags_hours === null || acf === null || band95 === null) return null
  const lagMax = lags_hours.at(-1) ?? 1
  const x = linearScale([0, lagMax], across)
  const [low] = extentOf(acf) ?? [0]
  const y = linearScale([Math.min(-0.3, low), 1], up)
  const clamp = (value: number) => Math.max(plot.top, Math.min(plot.bottom, y(value)))
  const bound = (sign: 1 | -1): Spot[] =>
    lags_hours.map((lag, place) => [x(lag), mapped(band95[place] ?? null, band => clamp(sign * band))])
  const spots: Spot[] = lags_hours.map((lag, place) => [x(lag), mapped(acf[place] ?? null, y)])
  const days = Math.floor(lagMax / 24)
  const ticks = Array.from({ length: days + 1 }, (_, day) => ({ x: x(24 * day), text: day === 0 ? '0' : `${day} d` }))
  const summary =
    peak === null
      ? t('the pattern does not repeat')
      : t('the pattern repeats most closely after {duration}', { duration: inOneUnit(peak.lag_hours * 3600, true) })
  return (
    <SmallChart
      title={t('Similarity to itself after a delay (grey: random variation)')}
      label={t('Autocorrelation up to {duration}: {summary}.', { duration: inOneUnit(lagMax * 3600), summary })}
    >
      <Area lower={bound(-1)} upper={bound(1)} kind="noise" />
      <Line
        spots={[
          [plot.left, y(0)],
          [plot.right, y(0)],
        ]}
        kind="thin"
      />
      <TimeAxis ticks={days < 1 ? [{ x: x(lagMax), text: inOneUnit(lagMax * 3600) }] : ticks} />
      <Line spots={spots} />
      {peak === null ? null : (
        <Mark x={x(peak.lag_hours)} y={y(peak.r)} text={`${hours(peak.lag_hours)}, ${decimalText(peak.r, 2)}`} />
      )}
    </SmallChart>
  )
}

/** `24 h`, `20 min`, `7 d`, and `12.4 h` */
function hours(period: number): string {
  if (period < 1) return t('{count} min', { count: Math.round(period * 60) })
  if (period > 72) return `${Math.round(period / 24)} d`
  const isWhole = Math.abs(period - Math.round(period)) < period / 100
  return t('{count} h', { count: isWhole ? Math.round(period) : decimalText(period, 1) })
}

/** Weaker than this below the strongest, nothing is drawn. */
const decibelsMin = -50
const periodTicks = [0.5, 1, 3, 6, 12, 24, 72, 168]

export function CyclesChart({ cycles }: { cycles: Seasonality }) {
  const { periodogram, peaks } = cycles
  if (periodogram === null) return null
  const { period_hours, power_db, background_db } = periodogram
  const extent = extentOf(period_hours)
  if (extent === undefined) return null
  const x = (period: number) => linearScale([Math.log(extent[0]), Math.log(extent[1])], across)(Math.log(period))
  const y = linearScale([decibelsMin, 3], up)
  const spots = (values: readonly number[]): Spot[] =>
    period_hours.map((period, place) => [
      x(period),
      y(Math.min(3, Math.max(decibelsMin, values[place] ?? decibelsMin))),
    ])
  const found = peaks.filter(
    ({ significant, period_hours: period }) => significant && period >= extent[0] && period <= extent[1],
  )
  const texts = found.map(({ period_hours: period }) => hours(period))
  return (
    <SmallChart
      title={t('Strength of cycles by length (dashed: random variation)')}
      label={
        found.length === 0
          ? t('Periodogram: no cycle stands out.')
          : t('Periodogram: cycles of {list} stand out.', { list: texts.join(', ') })
      }
    >
      <TimeAxis
        ticks={periodTicks.filter(p => p >= extent[0] && p <= extent[1]).map(p => ({ x: x(p), text: hours(p) }))}
      />
      <Line spots={spots(background_db)} kind="dashed" />
      <Line spots={spots(power_db)} />
      {found.map(peak => (
        <Mark
          key={peak.period_hours}
          x={x(peak.period_hours)}
          y={y(powerAt(peak, period_hours, power_db))}
          text={hours(peak.period_hours)}
        />
      ))}
    </SmallChart>
  )
}

/** The power at the sampled period nearest to the peak. */
function powerAt({ period_hours: period }: Peak, periods: readonly number[], power: readonly number[]): number {
  let best = 0
  for (const [place, sampled] of periods.entries()) {
    if (Math.abs(Math.log(sampled / period)) < Math.abs(Math.log((periods[best] as number) / period))) best = place
  }
  return Math.max(decibelsMin, power[best] ?? decibelsMin)
}
