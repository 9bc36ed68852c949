/** A trend as an arrow: rising, level or falling. */

import type { Trend } from '../../query/live/fleet-shape.ts'

const degrees: Record<Trend, number> = { rising: -45, steady: 0, falling: 45 }

/** `label`: the same in words. */
export function TrendArrow({ trend, label }: { trend: Trend; label: string }) {
  return (
    <svg class="trend" role="img" aria-label={label} viewBox="-8 -8 16 16">
      <title>{label}</title>
      <path d="M-6 0H6M1 -5 6 0 1 5" transform={`rotate(${degrees[trend]})`} />
    </svg>
  )
}
