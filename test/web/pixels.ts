/** Colours on the screen, as somebody sees them. */

import type { Locator, Page } from 'playwright-core'

export type Colour = readonly [red: number, green: number, blue: number]

/** Columns of a screenshot of a place, at shares of its width: from top to bottom. Another page, without a policy, decodes it. */
export async function columnsOf(place: Locator, shares: readonly number[]): Promise<Colour[][]> {
  const png = (await place.screenshot({ animations: 'disabled' })).toString('base64')
  const decoder = await place.page().context().newPage()
  try {
    return (await decoder.evaluate(`(async () => {
      const blob = await (await fetch('data:image/png;base64,${png}')).blob()
      const bitmap = await createImageBitmap(blob)
      const { width, height } = bitmap
      const context = new OffscreenCanvas(width, height).getContext('2d')
      context.drawImage(bitmap, 0, 0)
      return ${JSON.stringify(shares)}.map(share => {
        const { data } = context.getImageData(Math.round(share * width), 0, 1, height)
        return Array.from({ length: height }, (_, row) => [...data.slice(4 * row, 4 * row + 3)])
      })
    })()`)) as Colour[][]
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
