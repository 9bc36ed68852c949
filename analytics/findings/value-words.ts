/** Metrics, numbers, spans and names in words, as the service and its pages share them. The service writes English. */

import { english, type Words } from './words.ts'

/** The built-in metrics, in the order of answers. */
export const builtInMetrics = {
  temperature: { title: 'Temperature', kind: 'gauge', unit: '°C', decimals: 1 },
  humidity: { title: 'Humidity', kind: 'gauge', unit: '%', decimals: 0 },
  pressure: { title: 'Pressure', kind: 'gauge', unit: 'hPa', decimals: 1 },
  battery_voltage: { title: 'Battery voltage', kind: 'gauge', unit: 'V', decimals: 2 },
  battery_percentage: { title: 'Battery charge', kind: 'gauge', unit: '%', decimals: 0 },
} as const

/** `−1.5`: with the sign that screen readers say, and never `−0.0`. */
export function decimalText(value: number, decimals: number, { inDecimals } = english): string {
  const text = inDecimals(Math.abs(value).toFixed(decimals))
  return value < 0 && Number(value.toFixed(decimals)) !== 0 ? `−${text}` : text
}

/** `5 points`: a difference of shares, because 5 % less would be another number. */
export function pointsText(number: string, { tn } = english): string {
  return tn(number === '1' ? 1 : 2, '{count} point', '{count} points', { count: number })
}

type Unit = (count: number, words: Words, number?: { readonly count?: string }) => string

const day: Unit = (count, { tn }, number) => tn(count, '{count} day', '{count} days', number)
const hour: Unit = (count, { tn }, number) => tn(count, '{count} hour', '{count} hours', number)
const minute: Unit = (count, { tn }, number) => tn(count, '{count} minute', '{count} minutes', number)
const second: Unit = (count, { tn }, number) => tn(count, '{count} second', '{count} seconds', number)

/** Units of spans, with their texts for a number of them. */
export const unitsSeconds = [
  [86_400, day],
  [3600, hour],
  [60, minute],
  [1, second],
] as const

/** `30 hours`, `12.4 hours`: the largest unit that gives at least two, to a tenth where `isExact`, else rounded. */
export function inOneUnit(seconds: number, isExact = false, words = english): string {
  const [length, unit] = unitsSeconds.find(([length]) => seconds >= 1.995 * length) ?? [1, second]
  const number = seconds / length
  const isWhole = Math.abs(number - Math.round(number)) < number / 100
  if (isExact && !isWhole) return unit(2, words, { count: words.inDecimals(number.toFixed(1)) })
  return unit(Math.round(number), words)
}

/** A whole number of the largest possible unit. */
export function durationText(seconds: number, words = english): string {
  const [length, unit] = unitsSeconds.find(([length]) => seconds % length === 0 && seconds >= length) ?? [1, second]
  return unit(seconds / length, words)
}

/** A title within an English sentence: `wind speed`, but `CO₂` and `PM2.5`. */
export function nameWithin(title: string): string {
  const [word = ''] = title.split(' ', 1)
  const isWord = word.slice(1) === word.slice(1).toLowerCase() && !/\d/.test(word)
  return isWord ? title.slice(0, 1).toLowerCase() + title.slice(1) : title
}
