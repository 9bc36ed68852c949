/** Compares a response with the reference values, each within the tolerance of its kind. */

/** The tolerance of a figure: absolute, or a share of the reference. Figures without a row must be equal. */
type Tolerance = { readonly absolute: number } | { readonly relative: number }

const tolerances: Record<string, Tolerance> = {
  ...kind({ relative: 1e-12 }, 'mean', 'min', 'max', 'median', 'p05', 'p95', 'p10', 'p90', 'weekly_profile'),
  ...kind({ relative: 1e-10 }, 'std', 'tw_mean'),
  ...kind({ absolute: 1e-9 }, 'acf', 'band95', 'band95_white', 'lag_r', 'uptime', 'completeness'),
  ...kind({ relative: 1e-9 }, 'jitter_seconds', 'jitter_p95_seconds', 'gap_threshold_seconds', 'downtime_seconds'),
  ...kind({ absolute: 1e-10 }, 'pearson', 'spearman', 'r_deseasonalised'),
  ...kind({ relative: 1e-8 }, 'n_eff', 'p_value', 'spearman_p_value', 'ci95'),
  ...kind({ relative: 1e-9 }, 'slope_per_day'),
  ...kind({ relative: 1e-5 }, 'period_hours'),
  ...kind({ absolute: 1e-8 }, 'power'),
  ...kind({ relative: 1e-6 }, 'fap'),
  ...kind({ absolute: 1e-6 }, 'daily', 'trend'),
}

function kind(tolerance: Tolerance, ...names: string[]): Record<string, Tolerance> {
  return Object.fromEntries(names.map(name => [name, tolerance]))
}

/** Returns the largest deviation by figure. Throws if a figure is missing or exceeds its tolerance. */
export function compareFigures(ours: unknown, reference: unknown): Record<string, number> {
  const largest: Record<string, number> = {}
  for (const { name, path, our, their } of figuresOf(ours, reference, '', 'answer')) {
    const { off, max } = deviationOf(our, their, tolerances[name])
    if (!(off <= max)) throw new Error(`${path} is ${our}, the reference says ${their}`)
    largest[name] = Math.max(largest[name] ?? 0, off)
  }
  return largest
}

interface Figure {
  readonly name: string
  readonly path: string
  readonly our: unknown
  readonly their: unknown
}

function* figuresOf(our: unknown, their: unknown, name: string, path: string): Generator<Figure> {
  if (typeof their !== 'object' || their === null) {
    yield { name, path, our, their }
    return
  }
  const ours = (our ?? {}) as Record<string, unknown>
  for (const [key, value] of Object.entries(their)) {
    // Values in an array share its name.
    yield* figuresOf(ours[key], value, Array.isArray(their) ? name : key, `${path}.${key}`)
  }
}

function deviationOf(our: unknown, their: unknown, tolerance: Tolerance | undefined): { off: number; max: number } {
  if (typeof our !== 'number' || typeof their !== 'number' || tolerance === undefined) {
    return { off: our === their ? 0 : Number.POSITIVE_INFINITY, max: 0 }
  }
  const distance = Math.abs(our - their)
  if ('absolute' in tolerance) return { off: distance, max: tolerance.absolute }
  return { off: distance === 0 ? 0 : distance / Math.abs(their), max: tolerance.relative }
}
