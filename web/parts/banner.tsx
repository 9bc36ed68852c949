/** A sentence across the page. */

import type { ComponentChildren } from 'preact'

export interface BannerProps {
  kind: 'note' | 'warn' | 'bad'
  children: ComponentChildren
  /** Shows a button that ends it. */
  onDismiss?: () => void
}

/** Read out when it comes: a fault at once, anything else when the reader has finished its sentence. */
export function Banner({ kind, children, onDismiss }: BannerProps) {
  return (
    <div class={`banner ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <div>{children}</div>
      {onDismiss === undefined ? null : (
        <button type="button" class="button" onClick={onDismiss}>
          Dismiss
        </button>
      )}
    </div>
  )
}
