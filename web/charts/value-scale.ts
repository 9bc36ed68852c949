/** The scale of the values of a chart: from where to where, and how its numbers are written. */

import { decimalText } from '../../analytics/findings/value-words.ts'
import type { ChartContent } from './panel.ts'

/** With the decimals of the axis steps: 2.5 between 0 and 5 is not shown as 3. */
export function axisText(value: number, splits: readonly number[], decimals: number): string {
  const step = splits.length > 1 ? Math.abs((splits[1] as number) - (splits[0] as number)) : 1
  const isWritten = (places: number) => Math.abs(step - Number(step.toFixed(places))) < step / 1e6
  let needed = 0
  while (needed <= decimals && !isWritten(needed)) needed++
  return decimalText(value, needed)
}

/** Multiples of ten, the easiest to read first. */
const steps = [1, 2, 5, 2.5, 4, 3, 1.5, 6, 8]
const ticksMax = 5

/** Four or five round values between the ends of an axis; three where no round step fits. */
export function valueTicks(low: number, high: number): number[] {
  const span = high - low
  if (!(span > 0 && Number.isFinite(span))) return []
  const power = 10 ** (Math.floor(Math.log10(span)) - 1)
  const sizes = [...steps, ...steps.map(step => 10 * step)].map(step => step * power)
  const all = sizes.map(size => multiplesIn(low, high, size)).filter(({ length }) => length <= ticksMax)
  const most = Math.max(...all.map(({ length }) => length))
  return all.find(({ length }) => length >= Math.min(most, ticksMax - 1)) ?? []
}

function multiplesIn(low: number, high: number, size: number): number[] {
  const [first, last] = [Math.ceil(low / size - 1e-9), Math.floor(high / size + 1e-9)]
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) =>
    Number(((first + place) * size).toPrecision(12)),
  )
}

/** The range of visible values. Small variations are not stretched to the full height, and rules are always visible. */
export function valueRange(
  min: number | null,
  max: number | null,
  {
    rules = [],
    decimals,
    isFromZero = false,
    range,
  }: Pick<ChartContent, 'rules' | 'decimals' | 'isFromZero' | 'range'>,
): [number, number] {
  if (range !== undefined) return [...range]
  const values = [min, max, ...rules.map(({ value }) => value)].filter(
    value => value !== null && Number.isFinite(value),
  )
  if (values.length === 0) return [0, 1]
  if (isFromZero) values.push(0)
  const [low, high] = [Math.min(...(values as number[])), Math.max(...(values as number[]))]
  const least = 10 * 10 ** -decimals
  const margin = Math.max((high - low) * 0.06, (least - (high - low)) / 2)
  // Values on the other side of 0 get a margin, too.
  return [isFromZero && low === 0 ? 0 : low - margin, isFromZero && high === 0 && low < 0 ? 0 : high + margin]
}
