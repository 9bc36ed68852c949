/** A moment as text, which programs and screen readers have in full: a text that is shorter has the whole of it as a tooltip. */

import type { ComponentChildren } from 'preact'
import { pageTimes } from '../text/preferences.ts'
import type { Times } from '../theme/times.ts'
import { t } from '../words/words.ts'

export interface MomentProps {
  /** ISO 8601, or milliseconds since 1970; null: never. */
  readonly at: string | number | null
  /** Default for pages without a device. */
  readonly times?: Times
  /** Instead of the full time. */
  readonly children?: ComponentChildren
}

/** `23 Nov 2026, 12:04:31 UTC`, `never`, or the children. */
export function Moment({ at, times = pageTimes(), children }: MomentProps) {
  if (at === null) return <>{t('never')}</>
  const ms = new Date(at).getTime()
  const full = times.exact(ms)
  return (
    <time dateTime={new Date(ms).toISOString()} title={children === undefined ? undefined : full}>
      {children ?? full}
    </time>
  )
}
