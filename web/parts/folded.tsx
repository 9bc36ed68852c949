/** A section that begins folded: its heading, and beside it what it comes to. What is inside is drawn when it is opened. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

export interface FoldedProps {
  readonly id: string
  readonly title: string
  readonly told: string
  readonly children: () => ComponentChildren
}

export function Folded({ id, title, told, children }: FoldedProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <section class="card folded" aria-labelledby={id}>
      <details open={isOpen} onToggle={event => setIsOpen(event.currentTarget.open)}>
        <summary>
          <h2 id={id}>{title}</h2>
          <span>{told}</span>
        </summary>
        {isOpen ? children() : null}
      </details>
    </section>
  )
}
