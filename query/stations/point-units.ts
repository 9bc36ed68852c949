/**
 * The units of points, each stored as it was sent. A series is shown in the unit of its newest point. Points in another
 * unit are converted where both are shares of the air, and left out otherwise: a mass becomes a share only by the
 * temperature and the pressure of its measurement.
 */

import { pointsTable, pointUnits } from '../../store/tables.ts'
import type { CustomMetric } from '../custom-metric.ts'
import { type ValuesTable, whole } from '../questdb/values-table.ts'

export type PointUnit = (typeof pointUnits)[number]

/** Number of points by unit. */
export type UnitCounts = Partial<Record<PointUnit, number>>

interface UnitKind {
  /** The unit's sign for readers. */
  readonly sign: string
  /** Value in billionths, for a share of the air. */
  readonly billionths: number | undefined
  /** Decimals that ppb has more than this unit. */
  readonly digits: number
}

const kinds: Record<PointUnit, UnitKind> = {
  ppb: { sign: 'ppb', billionths: 1, digits: 0 },
  ppm: { sign: 'ppm', billionths: 1000, digits: 3 },
  ugm3: { sign: 'µg/m³', billionths: undefined, digits: 0 },
}

export function pointUnitOf(text: unknown): PointUnit | undefined {
  return pointUnits.find(unit => unit === text)
}

function isConverted(from: PointUnit, to: PointUnit): boolean {
  return from === to || (kinds[from].billionths !== undefined && kinds[to].billionths !== undefined)
}

/** Counts of points that cannot be shown. */
export function leftOutOf(counts: UnitCounts, shown: PointUnit): UnitCounts {
  return Object.fromEntries(Object.entries(counts).filter(([unit]) => !isConverted(unit as PointUnit, shown)))
}

export function sumOf(counts: UnitCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** The points of these series, each in its displayed unit. */
export function pointValues(shown: ReadonlyMap<number, PointUnit>): ValuesTable {
  const seriesOf = (unit: PointUnit) => [...shown].filter(([, one]) => one === unit).map(([series]) => series)
  const cases: string[] = []
  const conditions: string[] = []
  for (const to of pointUnits) {
    const series = seriesOf(to)
    if (series.length === 0) continue
    const ofThese = seriesSql(series)
    const from = pointUnits.filter(unit => isConverted(unit, to))
    conditions.push(`(${ofThese} AND unit IN (${from.map(unit => `'${unit}'`).join(', ')}))`)
    for (const unit of from) {
      const factor = (kinds[unit].billionths ?? 1) / (kinds[to].billionths ?? 1)
      // A quotient of round numbers has only the digits of its operands.
      const changed = factor < 1 ? `value / ${1 / factor}.0` : `value * ${factor}.0`
      if (factor !== 1) cases.push(`WHEN unit = '${unit}' AND ${ofThese} THEN ${changed}`)
    }
  }
  return {
    name: pointsTable,
    value: cases.length === 0 ? 'value' : `CASE ${cases.join(' ')} ELSE value END`,
    isThere: conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`,
  }
}

/** SQL condition for some series. QuestDB compiles comparisons to machine code, but no IN. */
export function seriesSql(series: readonly number[]): string {
  return `(${series.map(number => `series = ${whole(number)}`).join(' OR ')})`
}

/** The registry's description, except for the unit and fields that depend on it. */
export function inShownUnit(metric: CustomMetric, shown: PointUnit, leftOut: number): CustomMetric {
  const { sign, digits } = kinds[shown]
  const left_out = leftOut === 0 ? {} : { left_out: leftOut }
  if (metric.unit === sign) return { ...metric, ...left_out }
  const registered = pointUnits.find(unit => kinds[unit].sign === metric.unit)
  const isScaled = registered !== undefined && isConverted(registered, shown)
  const decimals = isScaled ? metric.decimals + digits - kinds[registered].digits : metric.decimals
  // The limits are in the registry's unit.
  return { ...metric, unit: sign, decimals: Math.max(0, decimals), quality: null, ...left_out }
}
