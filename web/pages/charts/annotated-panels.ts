/** The annotations of the devices of a chart in its panels. */

import type { Annotation } from '../../../auth/annotations/annotation.ts'
import { annotationPanel, marksOf, withAnnotations } from '../../charts/annotation-marks.ts'
import type { Panel } from '../../charts/panel.ts'
import type { TimeWindow } from '../../charts/range.ts'
import type { Times } from '../../theme/times.ts'

interface Written {
  readonly shown: readonly Annotation[]
  /** True if the chart has several devices. */
  readonly hasNames: boolean
}

/** The panels with annotations in them, and a timeline of these below. */
export function annotatedPanels(
  panels: readonly Panel[],
  { shown, hasNames }: Written,
  { window, times }: { readonly window: TimeWindow; readonly times: Times },
): Panel[] {
  const timeline = annotationPanel(marksOf(shown, window, times, hasNames))
  if (panels.length === 0 || timeline === undefined) return [...panels]
  const hasRight = panels.some(({ content }) => content.right !== undefined)
  const below = hasRight ? { ...timeline, content: { ...timeline.content, right: 'room' as const } } : timeline
  return [...panels.map(panel => withAnnotations(panel, shown)), below]
}
