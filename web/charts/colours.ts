/** Colours of metrics, and of blocks and swatches with an edge that stands out from the background. */

const colourCount = 8
const ofKnown: Readonly<Record<string, number>> = {
  temperature: 2,
  humidity: 5,
  pressure: 3,
  battery_voltage: 6,
  battery_percentage: 4,
  dew_point: 1,
}

/** A custom property. A metric that is not built in gets one by its name. */
export function metricColour(metric: string): string {
  return nameOf(numberOf(metric))
}

/** The style of an element whose small charts are of one metric. */
export function metricStyle(metric: string): Record<string, string> {
  const colour = `var(${metricColour(metric)})`
  return { '--accent': colour, '--accent-wash': `color-mix(in srgb, ${colour} 14%, var(--card))` }
}

/** A chart has at most eight lines. The second line of a metric gets a colour that is free. */
export function coloursOf(metrics: readonly string[]): string[] {
  const owned = new Set(metrics.map(numberOf))
  const free = [1, 2, 3, 4, 5, 6, 7, 8].filter(number => !owned.has(number))
  return metrics
    .map(numberOf)
    .map((own, place, all) => nameOf(all.indexOf(own) === place ? own : (free.shift() ?? own)))
}

const nameOf = (number: number) => `--line-${number}`

function numberOf(metric: string): number {
  if (Object.hasOwn(ofKnown, metric)) return ofKnown[metric] as number
  const hash = [...metric].reduce((sum, letter) => (31 * sum + (letter.codePointAt(0) as number)) % 65_521, 0)
  return (hash % colourCount) + 1
}

/** `--line` is too faint to stand out, so its blocks get an edge in another colour. */
const faint = '--line'

/** The custom property of the edge: the block's own colour where that is strong enough. */
export function edgeColour(colour: string): string {
  return colour === faint ? '--edge' : colour
}

/** The custom property for text inside the block. */
export function wordColour(colour: string): string {
  return colour === faint ? '--ink' : '--card'
}

/** The style of an SVG rectangle. */
export function blockStyle(colour: string): { fill: string; stroke: string } {
  return { fill: `var(${colour})`, stroke: colour === faint ? `var(${edgeColour(colour)})` : 'none' }
}
