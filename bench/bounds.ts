/** The limits of a benchmark: multiples of a baseline in the same run, because absolute times are not comparable between machines. */

import { max, quantile } from 'simple-statistics'
import { createHooks, type Hooks, hardware, printResult, round } from './measure.ts'

export interface Bounds {
  /** A ratio with an upper limit. `more` has further figures for the reader, such as its milliseconds. */
  atMost(name: string, ratio: number, bound: number, more?: object): void
  /** One that must not be smaller. */
  atLeast(name: string, ratio: number, bound: number, more?: object): void
  /** The 95th percentile, in multiples of the yardstick. */
  p95(name: string, ms: readonly number[], yardstickMs: number, bound: number, more?: object): void
  /** A condition that holds on any machine, such as a complete store. */
  must(name: string, holds: boolean): void
  /** Prints the result with the machine and all figures. The bench fails if a limit was missed. */
  conclude(result: object): void
}

export function createBounds(): Bounds {
  const figures: Record<string, object> = {}
  const missed: string[] = []

  function note(name: string, ok: boolean, figure: object): void {
    figures[name] = { ...figure, ok }
    // A bench that fails later has already printed its earlier figures.
    process.stderr.write(`${name}: ${JSON.stringify(figures[name])}\n`)
    if (!ok) missed.push(name)
  }

  const atMost: Bounds['atMost'] = (name, ratio, bound, more) =>
    note(name, ratio <= bound, { ratio: round(ratio), atMost: bound, ...more })

  return {
    atMost,
    atLeast: (name, ratio, bound, more) => note(name, ratio >= bound, { ratio: round(ratio), atLeast: bound, ...more }),
    p95(name, ms, yardstickMs, bound, more) {
      const p95Ms = quantile([...ms], 0.95)
      const others = { p50Ms: round(quantile([...ms], 0.5)), maxMs: round(max([...ms])), samples: ms.length }
      const figure = { p95Ms: round(p95Ms), ...others, yardstickMs: round(yardstickMs), ...more }
      atMost(`${name}, p95`, p95Ms / yardstickMs, bound, figure)
    },
    must: (name, holds) => note(name, holds, {}),
    conclude(result) {
      printResult({ ...result, hardware: hardware(), figures })
      if (missed.length === 0) return
      process.stderr.write(`missed: ${missed.join('; ')}\n`)
      process.exitCode = 1
    },
  }
}

/** The parts of a bench: `run` closes everything that registered with `hooks`, also after an error. */
export function startBench(): { hooks: Hooks; bounds: Bounds; run: (bench: () => Promise<void>) => Promise<void> } {
  const { hooks, closeAll } = createHooks()
  async function run(bench: () => Promise<void>): Promise<void> {
    try {
      await bench()
    } finally {
      await closeAll()
    }
  }
  return { hooks, bounds: createBounds(), run }
}
