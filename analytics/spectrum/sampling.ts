/** The sampling of a series, on a grid or at its own times, with the functions that a search for cycles needs. */

import {
  createSeriesRoom,
  fitSinusoid,
  fitSinusoidAtTimes,
  observedSeries,
  type Sinusoid,
  withoutSinusoid,
  withoutSinusoidAtTimes,
} from './lomb-scargle.ts'

export interface Sampling {
  /** 1/T, T being the span: the main lobe of a cycle ends this far beside its frequency. */
  readonly resolution: number
  /** Fits sinusoids of any frequency to these values; valid until the next call. */
  fitter(values: Float64Array): (frequency: number) => Sinusoid
  /** The values minus a sinusoid. The output array `rest` may be the values. */
  without(values: Float64Array, sinusoid: Sinusoid, rest: Float64Array): Float64Array
}

/** Values by cell, NaN where missing; frequencies in cycles a cell. */
export function gridSampling(cells: number, room = createSeriesRoom(cells)): Sampling {
  return {
    resolution: 1 / cells,
    fitter(values) {
      const series = observedSeries(values, undefined, room)
      return frequency => fitSinusoid(series, frequency)
    },
    without: withoutSinusoid,
  }
}

/** Values at ascending times in any unit, without missing ones; frequencies in cycles per unit. */
export function timesSampling(times: Float64Array): Sampling {
  return {
    resolution: 1 / ((times.at(-1) ?? 0) - (times[0] ?? 0)),
    fitter(values) {
      const series = observedSeries(values)
      return frequency => fitSinusoidAtTimes(times, series, frequency)
    },
    without: (values, sinusoid, rest) => withoutSinusoidAtTimes(times, values, sinusoid, rest),
  }
}
