/**
 * Places names of devices beside their marks: to the right, or to the left near the map's edge, and never over another
 * mark or name.
 */

import type { MergedMark } from './merged-marks.ts'

export interface NamePlace {
  isLeft: boolean
  /** False: the name shows only while its mark is pointed at or has the focus. */
  hasRoom: boolean
}

/** Up to this number of marks, all have names. */
const namedMax = 12
/** CSS pixels. */
const characterWidth = 7.5
const paddingWidth = 12
const markRadius = 18
const lineHalf = 11

interface Box {
  left: number
  right: number
  y: number
}

/** In the order of the marks; undefined for a mark of several devices, which shows a number. */
export function namePlaces(marks: readonly MergedMark[], mapWidth: number): (NamePlace | undefined)[] {
  const taken: Box[] = marks.map(({ x, y }) => ({ left: x - markRadius, right: x + markRadius, y }))
  return marks.map(({ x, y, size, devices }) => {
    const name = devices[0]?.device
    if (size !== 1 || name === undefined) return undefined
    const width = markRadius + paddingWidth + characterWidth * name.length
    const isLeft = x + width > mapWidth && x - width >= 0
    const box = isLeft ? { left: x - width, right: x - markRadius, y } : { left: x + markRadius, right: x + width, y }
    const hasRoom = marks.length <= namedMax && !taken.some(other => overlap(box, other))
    if (hasRoom) taken.push(box)
    return { isLeft, hasRoom }
  })
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && Math.abs(a.y - b.y) < markRadius + lineHalf
}
