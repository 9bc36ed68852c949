/** Annotations in charts: stretches that are shaded, a timeline, and a table. */

import type { Annotation } from '../../auth/annotations/annotation.ts'
import type { Times } from '../theme/times.ts'
import { t, tc } from '../words/words.ts'
import { blocksAt, type Panel, type Stretch, timelinePanel } from './panel.ts'
import type { TimeWindow } from './range.ts'
import type { TwinTable } from './table-rows.ts'

/** More cannot be distinguished in a chart. */
export const annotationsMax = 100

/** A moment gets the width of `momentShare`, so that it is visible. */
export interface AnnotationMark extends Stretch {
  readonly text: string
  readonly when: string
}

/** A moment takes this share of the window in the timeline. */
const momentShare = 1 / 150
const colour = '--ink'
const wash = '--accent-wash'

/** `4 May 2026, 10:00`, or both moments. */
export function whenText({ from, to }: Pick<Annotation, 'from' | 'to'>, times: Times): string {
  const start = times.dateTime(Date.parse(from))
  return to === null ? start : `${start} – ${times.dateTime(Date.parse(to))}`
}

/** The annotations within the window, ascending. */
export function annotationsIn(annotations: readonly Annotation[], { fromMs, toMs }: TimeWindow): Annotation[] {
  const within = annotations.filter(({ from, to }) => {
    const startMs = Date.parse(from)
    return startMs < toMs && (to === null ? startMs >= fromMs : Date.parse(to) > fromMs)
  })
  return within.sort((a, b) => Date.parse(a.from) - Date.parse(b.from) || a.id - b.id)
}

/** The marks of annotations within the window. `hasNames` adds the device or metric to each. */
export function marksOf(
  annotations: readonly Annotation[],
  { fromMs, toMs }: TimeWindow,
  times: Times,
  hasNames = false,
): AnnotationMark[] {
  const momentMs = (toMs - fromMs) * momentShare
  return annotations.map(annotation => {
    const startMs = Date.parse(annotation.from)
    const endMs = annotation.to === null ? startMs + momentMs : Date.parse(annotation.to)
    const text = hasNames ? `${aboutOf(annotation)}: ${annotation.text}` : annotation.text
    return { fromMs: startMs, toMs: endMs, text, when: whenText(annotation, times) }
  })
}

function aboutOf({ device }: Annotation): string {
  return device ?? t('all devices')
}

/** Undefined where there are none. */
export function annotationPanel(marks: readonly AnnotationMark[]): Panel | undefined {
  if (marks.length === 0) return undefined
  return timelinePanel({
    key: 'annotations',
    title: t('Annotations'),
    stretches: marks.map(mark => ({ ...mark, colour })),
    textAt(atMs) {
      const there = blocksAt(marks, atMs)
      return there.length === 0 ? null : there.map(({ text, when }) => `${text} (${when})`).join(', ')
    },
  })
}

/** The panel with the stretches of annotations beside its own. */
export function withAnnotations(panel: Panel, annotations: readonly Annotation[]): Panel {
  if (annotations.length === 0) return panel
  const spans = annotations.map(({ from, to }) => {
    const fromMs = Date.parse(from)
    return { fromMs, toMs: to === null ? fromMs : Date.parse(to), wash: to === null ? colour : wash, colour }
  })
  return { ...panel, content: { ...panel.content, spans: [...spans, ...(panel.content.spans ?? [])] } }
}

export function annotationTable(annotations: readonly Annotation[], times: Times): TwinTable {
  return {
    caption: t('Annotations in this range'),
    headName: tc('time', 'From'),
    columns: [tc('time', 'To'), t('Text'), t('About'), t('By')].map(name => ({ name, decimals: 0 })),
    rows: annotations.map(annotation => {
      const { id, from, to, text, by } = annotation
      const end = to === null ? null : times.exact(Date.parse(to))
      return { key: id, head: times.exact(Date.parse(from)), cells: [end, text, aboutOf(annotation), by] }
    }),
  }
}
