/** A folded section with a heading and a summary. Its content renders once it is opened. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

export interface FoldedProps {
  readonly id: string
  readonly title: string
  readonly summary: string
  readonly children: () => ComponentChildren
}

export function Folded({ id, title, summary, children }: FoldedProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <section class="card folded" aria-labelledby={id}>
      <details open={isOpen} onToggle={event => setIsOpen(event.currentTarget.open)}>
        <summary>
          <h2 id={id}>{title}</h2>
          <span>{summary}</span>
        </summary>
        {isOpen ? children() : null}
      </details>
    </section>
  )
}
