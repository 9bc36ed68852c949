/** Annotations of devices: the hook that reads them, and their texts in a list below charts. */

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Annotation, DeviceAnnotations } from '../../auth/annotations/annotation.ts'
import { addressOf } from '../client/address.ts'
import { lastValue } from '../client/resource-state.ts'
import { useRefreshedResources } from '../client/use-resource.ts'
import type { Times } from '../theme/times.ts'
import { countText, t } from '../words/words.ts'
import { annotationsIn, annotationsMax, whenText } from './annotation-marks.ts'
import type { TimeWindow } from './range.ts'

interface AnnotationTextProps {
  readonly annotation: Annotation
  readonly times: Times
  /** True if the charts show several devices: each annotation names its device. */
  readonly hasNames?: boolean
  /** Its buttons. */
  readonly children?: ComponentChildren
}

export function AnnotationText({ annotation, times, hasNames = false, children }: AnnotationTextProps) {
  const { device, text, by } = annotation
  const about = device === null ? [t('about all devices')] : hasNames ? [t('about {device}', { device })] : []
  const author = by === null ? [] : [t('by {name}', { name: by })]
  return (
    <>
      <span class="when">{whenText(annotation, times)}</span> <strong>{text}</strong>{' '}
      <span class="who">{[...about, ...author].join(', ')}</span> {children}
    </>
  )
}

/** A note where the range has more annotations than are shown. */
export function LeftOutAnnotations({ shown, total }: { shown: readonly Annotation[]; total: number }) {
  if (shown.length === total) return null
  return (
    <p class="none-here">
      {t('The newest {count} of {total} annotations in this range are shown. A shorter range shows others.', {
        count: countText(shown.length),
        total: countText(total),
      })}
    </p>
  )
}

const everyMs = 60_000

export interface AnnotationsOf {
  /** Annotations within the range, each once, ascending. The newest `annotationsMax` are kept. */
  readonly shown: readonly Annotation[]
  /** The number within the range. */
  readonly total: number
  /** One for each device, in their order; undefined while there is none. */
  readonly answers: readonly (DeviceAnnotations | undefined)[]
  /** The devices whose annotations could not be read. */
  readonly unread: readonly string[]
  /** Reads them again, after a change. */
  refresh(): void
}

/** All of a device at once: the range moves on with the minute, and is zoomed. */
export function useAnnotationsOf(devices: readonly string[], window: TimeWindow): AnnotationsOf {
  const urls = devices.map(device => addressOf(`/api/device/${encodeURIComponent(device)}/annotations`))
  const { states, refresh } = useRefreshedResources<DeviceAnnotations>(urls, { everyMs })
  const answers = states.map(state => lastValue(state))
  const found = useMemo(() => annotationsIn(joined(answers), window), [...answers, window])
  const shown = useMemo(() => found.slice(-annotationsMax), [found])
  const unread = devices.filter((_, place) => states[place]?.kind === 'failed')
  return { shown, total: found.length, answers, unread, refresh }
}

/** Each answer has those about all devices. */
function joined(answers: readonly (DeviceAnnotations | undefined)[]): Annotation[] {
  const all = answers.flatMap(answer => answer?.annotations ?? [])
  return [...new Map(all.map(annotation => [annotation.id, annotation])).values()]
}
