/** Pages that turn by themselves, and by the arrow keys; Space stops and goes on. */

import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

const everyMs = 15_000

export interface Turning {
  /** Zero-based. */
  page: number
  pages: number
  isPaused: boolean
}

export function useTurning(pages: number): Turning {
  const [turned, setTurned] = useState(0)
  const [isPaused, setPaused] = useState(false)
  useEffect(() => {
    if (isPaused || pages < 2) return undefined
    const timer = setInterval(() => setTurned(before => before + 1), everyMs)
    return () => clearInterval(timer)
    // A turn by hand begins the time of the new page.
  }, [isPaused, pages, turned])
  // Runs before the page is painted, so that a key works as soon as its hint is visible.
  useLayoutEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'ArrowRight') setTurned(before => before + 1)
      else if (key === 'ArrowLeft') setTurned(before => before - 1)
      else if (key === ' ') setPaused(before => !before)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return { page: pages === 0 ? 0 : ((turned % pages) + pages) % pages, pages, isPaused }
}
