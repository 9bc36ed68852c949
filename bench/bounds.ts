/** Figures of a bench, each beside what is asked of it. */

import { percentile, round } from './measure.ts'

export interface Bounds {
  /** A figure that must not be larger. `more` says what a reader needs beside it. */
  atMost(name: string, value: number, bound: number, more?: object): void
  /** The 95th percentile of milliseconds. */
  p95(name: string, ms: readonly number[], boundMs: number, more?: object): void
  /** By name; `ok` says whether a bound holds. */
  figures(): Readonly<Record<string, object>>
  /** The names of those that are larger. */
  missed(): readonly string[]
}

export function createBounds(): Bounds {
  const figures: Record<string, object> = {}
  const missed: string[] = []

  function atMost(name: string, value: number, bound: number, more: object = {}): void {
    const ok = value <= bound
    figures[name] = { value: round(value), bound, ok, ...more }
    if (!ok) missed.push(name)
  }

  return {
    atMost,
    p95(name, ms, boundMs, more) {
      const others = { p50: round(percentile(ms, 0.5)), max: round(Math.max(...ms)), samples: ms.length }
      atMost(`${name}, p95 ms`, percentile(ms, 0.95), boundMs, { ...others, ...more })
    },
    figures: () => figures,
    missed: () => missed,
  }
}
