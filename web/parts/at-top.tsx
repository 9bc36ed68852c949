/**
 * Stays at the upper edge while the page scrolls. Focused elements are scrolled to below it: see `scroll-padding` in
 * `parts.css`.
 */

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useSize } from '../client/use-size.ts'

export function AtTop({ children }: { children: ComponentChildren }) {
  const { place, size } = useSize()
  useEffect(() => {
    const { style } = document.documentElement
    style.setProperty('--at-top', `${size.height}px`)
    return () => void style.removeProperty('--at-top')
  }, [size.height])
  return (
    <div class="at-top" ref={place}>
      {children}
    </div>
  )
}
