/** The annotations of devices within a range, by one request for each device. */

import { useMemo } from 'preact/hooks'
import type { Annotation, DeviceAnnotations } from '../../auth/annotations/annotation.ts'
import { addressOf } from '../client/address.ts'
import { lastValue } from '../client/resource-state.ts'
import { useRefreshedResources } from '../client/use-resources.ts'
import { annotationsIn, annotationsMax } from './annotation-marks.ts'
import type { TimeWindow } from './range.ts'

const everyMs = 60_000

export interface AnnotationsOf {
  /** Within the range, each once, ascending; of more than `annotationsMax` the newest. */
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
