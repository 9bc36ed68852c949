/** An explanation behind a button "?". */

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export function Help({ name, children }: { name: string; children: ComponentChildren }) {
  const id = useId()
  return (
    <>
      <button type="button" class="button" popoverTarget={id} aria-label={`Help: ${name}`}>
        ?
      </button>
      <div id={id} class="menu help" popover="auto">
        {children}
      </div>
    </>
  )
}
