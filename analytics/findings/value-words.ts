/** Metrics, numbers, spans and names in words, as the service and its pages share them. */

/** The built-in metrics, in the order of answers. */
export const builtInMetrics = {
  temperature: { title: 'Temperature', kind: 'gauge', unit: '°C', decimals: 1 },
  humidity: { title: 'Humidity', kind: 'gauge', unit: '%', decimals: 0 },
  pressure: { title: 'Pressure', kind: 'gauge', unit: 'hPa', decimals: 1 },
  battery_voltage: { title: 'Battery voltage', kind: 'gauge', unit: 'V', decimals: 2 },
  battery_percentage: { title: 'Battery charge', kind: 'gauge', unit: '%', decimals: 0 },
} as const

const counts = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })

/** `−1.5`: with the sign that screen readers say, and never `−0.0`. */
export function decimalText(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals)
  return value < 0 && Number(text) !== 0 ? `−${text}` : text
}

/** `1,024` */
export function countText(count: number): string {
  return counts.format(count)
}

/** `1 device`, `2 devices`; for words whose plural takes an s. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `5 points`: a difference of shares, because 5 % less would be another number. */
export function pointsText(number: string): string {
  return `${number} ${number === '1' ? 'point' : 'points'}`
}

export const unitsSeconds = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** `30 hours`, `12.4 hours`: the largest unit that gives at least two, to a tenth where `isExact`, else rounded. */
export function inOneUnit(seconds: number, isExact = false): string {
  const [length, noun] = unitsSeconds.find(([length]) => seconds >= 1.995 * length) ?? [1, 'second']
  const number = seconds / length
  const isWhole = Math.abs(number - Math.round(number)) < number / 100
  return isExact && !isWhole ? `${number.toFixed(1)} ${noun}s` : countOf(Math.round(number), noun)
}

/** A title within a sentence: `wind speed`, but `CO₂` and `PM2.5`. */
export function nameWithin(title: string): string {
  const [word = ''] = title.split(' ', 1)
  const isWord = word.slice(1) === word.slice(1).toLowerCase() && !/\d/.test(word)
  return isWord ? title.slice(0, 1).toLowerCase() + title.slice(1) : title
}
