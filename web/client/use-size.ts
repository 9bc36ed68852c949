/** The size of an element, as the window and the type change it. */

import { useEffect, useRef, useState } from 'preact/hooks'

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
