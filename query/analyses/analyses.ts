/** The list of analyses. Operations, worker tasks and cached answers are made from it. */

import type { Analysis, Computation, How } from './analysis.ts'
import { anomaliesAnalysis } from './anomalies.ts'
import { changesAnalysis } from './changes.ts'
import { compareComputation } from './compare.ts'
import { dailyAnalysis } from './daily.ts'
import { detailAnalysis } from './detail.ts'
import { domainAnalysis } from './domain.ts'
import { excursionsAnalysis } from './excursions.ts'
import { forecastAnalysis } from './forecast.ts'
import { normalAnalysis } from './normal.ts'
import { pastAnalysis } from './past.ts'
import { stationLatestComputation } from './station-latest.ts'
import { statsAnalysis } from './stats.ts'
import { unusualAnalysis } from './unusual.ts'

/** Analyses of one device or one station, in the order of the contract. */
export const analyses = {
  detail: detailAnalysis,
  stats: statsAnalysis,
  daily: dailyAnalysis,
  past: pastAnalysis,
  changes: changesAnalysis,
  normal: normalAnalysis,
  unusual: unusualAnalysis,
  forecast: forecastAnalysis,
  domain: domainAnalysis,
  excursions: excursionsAnalysis,
  anomalies: anomaliesAnalysis,
}

/** The same with computations whose operations are declared by themselves. */
export const computations = { ...analyses, compare: compareComputation, stationLatest: stationLatestComputation }

export type AnalysisName = keyof typeof analyses
export type ComputationName = keyof typeof computations

export type HowOf<Name extends ComputationName> =
  (typeof computations)[Name] extends Computation<infer Options extends How> ? Options : never

// The compiler cannot relate a name to the types of its entry.
export const analysisOfName = (name: AnalysisName) => analyses[name] as unknown as Analysis<unknown, never>
export const computationOf = (name: ComputationName) => computations[name] as unknown as Computation<How>
