/** The comparison of two devices as far as it is shown, with what tells which metrics they have. */

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
  /** In the order in which they are shown. */
  readonly names: readonly string[]
  readonly described: Descriptions
}

export interface ComparisonState {
  /** What there is nothing of, or what is old. */
  readonly state: ResourceState<unknown>
  /** Those of other metrics stay until the answer about the chosen ones is there. */
  readonly compared: ComparedMetrics | undefined
}

export interface AskedComparison {
  readonly a: string
  readonly b: string
  readonly preset: ComparePreset
  /** In place of the preset. */
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
  // It follows the last values, which tell whether there are so many metrics that only some are asked for.
  const url = latestA && latestB ? comparisonAddress(askedNames(latestA.values, latestB.values, chosen)) : undefined
  const state = useResource<Comparison>(url, { everyMs })
  const kept = useKept(state, JSON.stringify([a, b, preset]))
  // That of a window has not the hours of the preset, and does not tell where they end.
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

/** The hours that any of the window is in, or those of the preset. */
function rangeOf(preset: ComparePreset, window: TimeWindow | undefined): string {
  if (window === undefined) return `preset=${preset}`
  const [start, end] = [Math.floor(window.fromMs / hourMs) * hourMs, Math.ceil(window.toMs / hourMs) * hourMs]
  return `start=${start}&end=${end}`
}
