/** Which rows of a long list stand in the document: those on the screen and some around them. */

export interface Window {
  /** The first row, and the one behind the last. */
  from: number
  to: number
}

/** Rows beyond each edge, for the next frame of a scroll and for the next press of Tab. */
const spare = 12

/** `top`: of the list, from the upper edge of the screen; negative when it begins above. Pixels. */
export function windowOf(top: number, screenHeight: number, rowHeight: number, rows: number): Window {
  const first = Math.floor(-top / rowHeight) - spare
  const last = Math.ceil((screenHeight - top) / rowHeight) + spare
  return { from: Math.min(Math.max(0, first), rows), to: Math.min(Math.max(0, last), rows) }
}

/** The row to which a key leads; undefined for a key that leads nowhere. */
export function rowAfterKey(key: string, row: number, rows: number, pageRows: number): number | undefined {
  const target = { ArrowDown: row + 1, ArrowUp: row - 1, PageDown: row + pageRows, PageUp: row - pageRows }[key]
  if (target !== undefined) return Math.min(Math.max(0, target), rows - 1)
  if (key === 'Home') return 0
  return key === 'End' ? rows - 1 : undefined
}
