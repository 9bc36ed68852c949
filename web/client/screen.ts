/** The screen: media queries, sizes of elements, and whether the page is visible. */

import { useEffect, useRef, useState } from 'preact/hooks'

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const change = () => setMatches(list.matches)
    list.addEventListener('change', change)
    change()
    return () => list.removeEventListener('change', change)
  }, [query])
  return matches
}

/** CSS pixels, 0 until the first drawing. `place` is the `ref` of the element. */
export function useSize() {
  const place = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  useEffect(() => {
    const element = place.current as HTMLDivElement
    const watch = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }))
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  return { place, size }
}

/** Calls `onChange` at once and at each change. Returns a function that stops it. */
export function whileVisible(onChange: (isVisible: boolean) => void): () => void {
  const notify = () => onChange(document.visibilityState === 'visible')
  document.addEventListener('visibilitychange', notify)
  notify()
  return () => document.removeEventListener('visibilitychange', notify)
}
