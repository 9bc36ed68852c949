/** Colours of blocks and swatches with an edge that stands out from the background. */

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
