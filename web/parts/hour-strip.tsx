/** Completeness of the last 24 hours as a row of bars. */

import { hoursText } from '../text/hours.ts'

/** Heights by letter, of 14. A missing hour has only a mark on the baseline. */
const heights: Record<string, number> = { A: 2, B: 6, C: 10, D: 14 }
/** The distance of two bars. */
export const hourStep = 5
const [barWidth, height] = [4, 14]

/** `hours`: a letter an hour, oldest first, as in the answer of the fleet. */
export function HourStrip({ hours }: { hours: string }) {
  return (
    <svg
      class="strip"
      role="img"
      aria-label={hoursText(hours)}
      viewBox={`0 0 ${hours.length * hourStep - 1} ${height}`}
      width={hours.length * hourStep - 1}
      height={height}
    >
      {Object.keys(heights).map(letter => (
        <path key={letter} class={`hours-${letter}`} d={barsOf(hours, letter)} />
      ))}
    </svg>
  )
}

function barsOf(hours: string, letter: string): string {
  const bar = heights[letter] ?? 0
  let path = ''
  for (let hour = 0; hour < hours.length; hour++) {
    if (hours[hour] === letter) path += `M${hour * hourStep} ${height - bar}h${barWidth}v${bar}h-${barWidth}z`
  }
  return path
}
