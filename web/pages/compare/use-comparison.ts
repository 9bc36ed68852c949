/** The comparison of two devices and the metrics that they have. */

import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { useKept } from '../../client/use-kept.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import type { Descriptions } from '../../text/quantities.ts'
import type { ComparePreset, Comparison } from './answers.ts'
import { askedNames, comparedNames } from './compared-names.ts'

const everyMs = 120_000

export interface ComparedMetrics {
  readonly comparison: Comparison
  /** In display order. */
  readonly names: readonly string[]
  readonly described: Descriptions
}

export interface ComparisonState {
  /** The state of failed or stale answers. */
  readonly state: ResourceState<unknown>
  /** The last metrics stay until the answer for the chosen ones arrives. */
  readonly compared: ComparedMetrics | undefined
}

export interface AskedComparison {
  readonly a: string
  readonly b: string
  readonly preset: ComparePreset
  /** Replaces the preset. */
  readonly window: TimeWindow | undefined
  /** Names with commas between them. */
  readonly chosen: string | null
}

const hourMs = 3_600_000

/** Reads nothing while one of the two is not named. */
export function useComparison({ a, b, preset, window, chosen }: AskedComparison): ComparisonState {
  const range = useRested(rangeOf(preset, window))
  const hasBoth = a !== '' && b !== ''
  const latestOf = (name: string) => addressOf(`/api/latest/${encodeURIComponent(name)}`)
  const ofA = useResource<LatestOfDevice>(hasBoth ? latestOf(a) : undefined, { everyMs })
  const ofB = useResource<LatestOfDevice>(hasBoth ? latestOf(b) : undefined, { everyMs })
  const [latestA, latestB] = [lastValue(ofA), lastValue(ofB)]
  // The request waits for the last values, which show how many metrics exist.
  const url = latestA && latestB ? comparisonAddress(askedNames(latestA.values, latestB.values, chosen)) : undefined
  const state = useResource<Comparison>(url, { everyMs })
  const kept = useKept(state, JSON.stringify([a, b, preset]))
  // A window's answer lacks the hours of the preset and its end.
  const comparison = window === undefined && kept?.preset === null ? undefined : kept
  const compared = latestA &&
    latestB &&
    comparison && {
      comparison,
      names: comparedNames(latestA.values, latestB.values, comparison),
      described: { ...latestA.metrics, ...latestB.metrics, ...comparison.metrics },
    }
  return { state: [ofA, ofB].find(({ kind }) => kind === 'failed') ?? state, compared }

  function comparisonAddress(asked: string | undefined): string {
    const query = new URLSearchParams({ a, b })
    return addressOf(`/api/compare_data?${query}&${range}&t=1${asked === undefined ? '' : `&metrics=${asked}`}`)
  }
}

/** The hours that the window touches, or the hours of the preset. */
function rangeOf(preset: ComparePreset, window: TimeWindow | undefined): string {
  if (window === undefined) return `preset=${preset}`
  const [start, end] = [Math.floor(window.fromMs / hourMs) * hourMs, Math.ceil(window.toMs / hourMs) * hourMs]
  return `start=${start}&end=${end}`
}
