/** One row of a list: its name, some facts, and buttons. */

import type { ComponentChildren } from 'preact'
import { type Fact, Facts } from './facts.tsx'

export interface RecordProps {
  name: string
  href?: string
  facts: readonly Fact[]
  /** Rendered before the name. */
  mark?: ComponentChildren
  children?: ComponentChildren
}

export function Record({ name, href, facts, mark, children }: RecordProps) {
  return (
    <div class="record">
      <div>
        <h2>
          {mark}
          {href === undefined ? name : <a href={href}>{name}</a>}
        </h2>
        <p class="soft">
          <Facts facts={facts} />
        </p>
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </div>
  )
}
