/** Colours on the screen, as somebody sees them. */

import type { Locator, Page } from 'playwright-core'

export type Colour = readonly [red: number, green: number, blue: number]

export interface Picture {
  readonly width: number
  readonly height: number
  /** Whole numbers, from the top left. */
  at(x: number, y: number): Colour
}

/** A screenshot of a place, decoded by another page, which has no policy that forbids it. */
export async function pictureOf(place: Locator): Promise<Picture> {
  const png = (await place.screenshot({ animations: 'disabled' })).toString('base64')
  const decoder = await place.page().context().newPage()
  try {
    const { width, height, bytes } = (await decoder.evaluate(`(async () => {
      const blob = await (await fetch('data:image/png;base64,${png}')).blob()
      const bitmap = await createImageBitmap(blob)
      const { width, height } = bitmap
      const context = new OffscreenCanvas(width, height).getContext('2d')
      context.drawImage(bitmap, 0, 0)
      return { width, height, bytes: [...context.getImageData(0, 0, width, height).data] }
    })()`)) as { width: number; height: number; bytes: number[] }
    return {
      width,
      height,
      at: (x, y) => bytes.slice(4 * (y * width + x), 4 * (y * width + x) + 3) as unknown as Colour,
    }
  } finally {
    await decoder.close()
  }
}

/** Of a custom property, as `--accent`. */
export async function colourOf(page: Page, name: string): Promise<Colour> {
  return (await page.evaluate(`(() => {
    const probe = document.createElement('span')
    probe.style.color = 'var(${name})'
    document.body.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color.match(/\\d+/g).map(Number)
  })()`)) as unknown as Colour
}

/** 0 for the same. */
export function difference(one: Colour, other: Colour): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2])
}
