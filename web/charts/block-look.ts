/** What blocks and swatches look like by their colour, so that each can be told from the ground that it stands on. */

/** `--line` is too faint for that: its edge tells where the block is. */
const faint = '--line'

/** The custom property of the edge; that of the block itself where it needs none. */
export function edgeColour(colour: string): string {
  return colour === faint ? '--edge' : colour
}

/** That of words inside. */
export function wordColour(colour: string): string {
  return colour === faint ? '--ink' : '--card'
}

/** Of a rectangle of an SVG. */
export function blockStyle(colour: string): { fill: string; stroke: string } {
  return { fill: `var(${colour})`, stroke: colour === faint ? `var(${edgeColour(colour)})` : 'none' }
}
